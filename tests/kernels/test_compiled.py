"""Compiled kernels are kept, and code of another version, another type or another user is never run."""

import errno
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import numba
import pytest

from shortlist.kernels import cache_folder
from shortlist.kernels.compiled import compiled

KERNELS = Path(cache_folder.__file__).parent
DAY = 24 * 60 * 60
DAMAGE = {
    "empty": lambda content: b"",
    "cut": lambda content: content[:-100],
    "cut within the checksum": lambda content: content[:20],
    "one bit": lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
    "something else": lambda content: b"not a kernel at all" * 100,
}


def plus_one(x):
    return x + 1


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where folders of kernels are made, as a new process would."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    anew(monkeypatch)
    yield tmp_path / "shortlist-kernels"
    cache_folder._opened.cache_clear()


def anew(monkeypatch):
    """Forget what this process knows of its folder."""
    monkeypatch.setattr(cache_folder, "_said", [])
    cache_folder._opened.cache_clear()


def loaded():
    """Whether a new kernel finds its code; it is right anyway."""
    kernel = compiled(plus_one)
    assert kernel(1) == 2
    return bool(kernel.stats.cache_hits)


def test_a_kernel_is_compiled_once_for_each_type(home):
    kernel = compiled(plus_one)
    assert (kernel(1), kernel(1.5), kernel(2)) == (2, 2.5, 3)
    assert len([*home.glob("*/plus_one-*")]) == 2
    again = compiled(plus_one)
    assert (again(1), again(1.5)) == (2, 2.5)
    assert sum(again.stats.cache_hits.values()) == 2


def test_options_are_those_of_numba():
    assert compiled(plus_one).targetoptions == {"nopython": True, "nogil": True, "boundscheck": None}
    told = compiled(inline="always", fastmath={"nsz"})(plus_one).targetoptions
    assert (told["nogil"], told["fastmath"]) == (True, {"nsz"})


def test_what_a_file_cannot_hold_is_refused():
    step = 1
    with pytest.raises(TypeError, match="give them as arguments"):
        compiled(lambda x: x + step)


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_replaced(home, damage):
    assert not loaded()
    (file,) = home.glob("*/*")
    file.write_bytes(damage(file.read_bytes()))
    assert not loaded()
    assert loaded()


def test_code_for_other_types_is_not_run_under_a_wrong_name(home):
    kernel = compiled(plus_one)
    kernel(1.5)
    (of_floats,) = home.glob("*/*")
    kernel(1)
    (of_integers,) = {*home.glob("*/*")} - {of_floats}
    shutil.copy(of_floats, of_integers)
    assert not loaded()


def test_threads_that_compile_at_once_agree(home):
    kernel = compiled(plus_one)
    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(kernel, [1, 1.5] * 4)]
    assert found == [2, 2.5] * 4
    assert len([*home.glob("*/*")]) == 2


@pytest.mark.parametrize("trouble", ["no folder", "full disk"])
def test_where_nothing_can_be_written_it_is_said_once(home, monkeypatch, caplog, trouble):
    if trouble == "no folder":
        home.write_text("a file is in the way")
    else:
        monkeypatch.setattr(Path, "write_bytes", Mock(side_effect=OSError(errno.ENOSPC, "the disk is full")))
    assert not loaded()
    assert not loaded()
    assert [each.name for each in caplog.records] == ["shortlist"]
    assert "compiled kernels are not kept" in caplog.text


def test_a_folder_that_is_removed_is_made_again(home):
    kernel = compiled(plus_one)
    kernel(1)
    shutil.rmtree(home)
    assert kernel(1.5) == 2.5
    assert len([*home.glob("*/plus_one-*")]) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and rights are those of POSIX")
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("reason", ["others can write", "another user"])
def test_code_that_others_could_have_put_there_is_not_run(home, monkeypatch, caplog, level, reason):
    assert not loaded()
    folder = [home, next(home.iterdir())][level]
    assert folder.stat().st_mode & 0o777 == 0o700
    if reason == "others can write":
        folder.chmod(0o770)
    elif os.geteuid() == 0:
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    anew(monkeypatch)
    assert not loaded()
    assert reason in caplog.text


def test_a_source_that_changed_under_a_running_program_is_not_mixed_with_it(home, monkeypatch, caplog):
    assert not loaded()
    monkeypatch.setattr(cache_folder, "_IMPORTED", [(0, 0, 0)])
    assert not loaded()
    assert "started anew" in caplog.text


def test_every_source_and_every_version_counts(tmp_path, monkeypatch):
    assert {KERNELS / "sorting.py", KERNELS / "target" / "bitset.py"} <= {*cache_folder._SOURCES}
    first, second = tmp_path / "a.py", tmp_path / "b" / "c.py"
    second.parent.mkdir()
    monkeypatch.setattr(cache_folder, "_KERNELS", tmp_path)
    monkeypatch.setattr(cache_folder, "_SOURCES", [first, second])
    found = []
    for texts in [("x", "y"), ("x", "z"), ("xy", ""), ("", "xy")]:
        first.write_text(texts[0])
        second.write_text(texts[1])
        found.append(cache_folder.version())
    for library, version in [(numba, "0.0"), (cache_folder.llvmlite, "0.0"), (cache_folder.np, "0.0")]:
        monkeypatch.setattr(library, "__version__", version)
        found.append(cache_folder.version())
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    found.append(cache_folder.version())
    assert len({*found}) == len(found) == 8


def test_folders_that_are_not_used_are_removed_when_a_new_one_is_made(home, monkeypatch):
    for name, days in {"old": 31, "young": 29}.items():
        folder = home / name
        folder.mkdir(parents=True, mode=0o700)
        (folder / "kernel").write_bytes(b"code")
        os.utime(folder, (time.time() - days * DAY,) * 2)
    home.chmod(0o700)
    used = cache_folder.usable_folder()
    assert {*home.iterdir()} == {home / "young", used}
    os.utime(used, (time.time() - 40 * DAY,) * 2)
    anew(monkeypatch)
    assert cache_folder.usable_folder() == used
    assert time.time() - used.stat().st_mtime < DAY


def test_the_cache_is_that_of_numba_or_of_the_user(monkeypatch):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("USERPROFILE", "/home/ann")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert cache_folder._root() == Path("/home/ann/.cache")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert cache_folder._root() == Path("/local")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder._root() == Path("/xdg")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "/numba")
    assert cache_folder._root() == Path("/numba")


TINY = """
from shortlist.kernels.compiled import compiled

@compiled
def step(x):
    return x + {step}

@compiled
def twice(x):
    return 2 * step(x)
"""

# One process has numba ready; those that it forks import the kernels anew, as they are by then.
ROUNDS = """
import os
import sys
import time
from pathlib import Path

from numba import njit

ready = njit(lambda x: 2 * (x + 1))
ready(1), ready(1.5)
place, rounds, tiny = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(place))
put = Path.replace


def put_late(self, target):
    time.sleep(0.1)
    return put(self, target)


def run(number, step, hits):
    from shortlist.kernels.tiny import twice
    Path.replace = put_late
    values = [1, 1.5] if number % 2 else [1.5, 1]
    right = [twice(x) for x in values] == [2 * (x + step) for x in values]
    return right and (hits is None or sum(twice.stats.cache_hits.values()) == hits)


def at_once(numbers, step, hits=None):
    children = []
    for number in numbers:
        children.append(os.fork())
        if children[-1] == 0:
            os._exit(0 if run(number, step, hits) else 1)
    return [os.waitpid(child, 0)[1] for child in children]


for step in range(rounds):
    (place / "shortlist" / "kernels" / "tiny.py").write_text(tiny.format(step=step))
    print(step, at_once(range(4), step), at_once([0], step, hits=2))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that start at once are forked")
def test_processes_that_start_at_once_never_run_the_kernel_of_before(tmp_path):
    place = tmp_path / "shortlist" / "kernels"
    place.mkdir(parents=True)
    for name in ("__init__.py", "compiled.py", "cache_folder.py"):
        shutil.copy(KERNELS / name, place)
    shutil.copy(KERNELS.parent / "places.py", place.parent)
    (place.parent / "__init__.py").touch()
    rounds = 4
    done = subprocess.run(
        [sys.executable, "-c", ROUNDS, tmp_path, str(rounds), TINY],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [f"{step} [0, 0, 0, 0] [0]" for step in range(rounds)], done.stderr
    folders = [*(tmp_path / "cache" / "shortlist-kernels").iterdir()]
    assert len(folders) == rounds
    assert {len([*folder.glob("twice-*")]) for folder in folders} == {2}
