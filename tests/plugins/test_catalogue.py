"""Names of a catalogue: whose they are, when plug-ins are loaded, and what goes wrong."""

import logging
from types import SimpleNamespace

import pytest

from shortlist import plugins
from shortlist.exceptions import PlugInError
from shortlist.plugins import Catalogue


def point(name, given, package="acme"):
    def load():
        if isinstance(given, Exception):
            raise given
        return given

    dist = SimpleNamespace(name=package, version="1.0")
    return SimpleNamespace(name=name, module=f"{package}.things", dist=dist, load=load)


@pytest.fixture
def make(monkeypatch):
    """A catalogue of numbers, and the plug-ins that packages bring."""

    def make(*points):
        monkeypatch.setattr(plugins, "entry_points", lambda group: points)
        return Catalogue("group", int, {"one": 1}, reserved=("all",))

    return make


def test_a_plug_in_is_a_thing_or_a_function_that_gives_one(make):
    numbers = make(point("two", 2), point("three", lambda: 3))
    assert dict(numbers) == {"one": 1, "two": 2, "three": 3}
    assert len(numbers) == 3
    assert "four" not in numbers
    with pytest.raises(KeyError):
        numbers["four"]


@pytest.mark.parametrize("name", ["one", "all"])
def test_our_names_cannot_be_taken(make, caplog, name):
    numbers = make(point(name, 111))
    assert dict(numbers) == {"one": 1}
    assert f"{name!r} of the package acme 1.0 is left out" in caplog.text


def test_a_broken_plug_in_is_named_and_left_out(make, caplog):
    numbers = make(point("two", ImportError("no such thing")), point("three", 3))
    with pytest.raises(
        PlugInError, match=r"'two' of the package acme 1.0 .* no such thing.* pip uninstall acme"
    ):
        numbers["two"]
    assert numbers.working() == {"one": 1, "three": 3}
    assert "no such thing" in caplog.text


@pytest.mark.parametrize("given", ["two", lambda: "two"])
def test_a_plug_in_of_another_kind_is_refused(make, given):
    with pytest.raises(PlugInError, match=r"gives a str; it should be a builtins\.int"):
        make(point("two", given))["two"]


def test_two_packages_cannot_share_a_name(make, caplog):
    numbers = make(point("two", 2), point("two", 22, package="zeta"), point("three", 3))
    with pytest.raises(PlugInError, match="acme and zeta both bring a plug-in 'two'"):
        numbers["two"]
    with caplog.at_level(logging.ERROR):
        assert numbers.working() == {"one": 1, "three": 3}


def test_a_name_registered_in_python_counts(make):
    numbers = make()
    numbers["two"] = 2
    assert [*numbers] == ["one", "two"]
    del numbers["two"]
    assert "two" not in numbers
