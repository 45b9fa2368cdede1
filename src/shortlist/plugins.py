"""Catalogues that other packages can add to, by entry points; and which package a class comes from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from shortlist.exceptions import PlugInError

log = logging.getLogger("shortlist")
Entry = TypeVar("Entry")


@dataclass(frozen=True)
class PlugIn:
    """An entry of a catalogue that an installed package brings; known from its metadata, not imported yet."""

    name: str
    package: str
    version: str
    module: str
    load: Callable[[], object]

    @classmethod
    def of(cls, found: EntryPoint) -> PlugIn:
        """What an entry point says of itself."""
        package, version = (found.dist.name, found.dist.version) if found.dist else (found.module, "?")
        return cls(found.name, package, version, found.module, found.load)

    def __str__(self) -> str:
        return f"{self.name!r} of the package {self.package} {self.version}"


def package_of(cls: type) -> str:
    """The top-level Python package that a class comes from.

    >>> package_of(PlugIn)
    'shortlist'
    """
    return cls.__module__.partition(".")[0]


def subclasses(cls: type) -> Iterator[type[Any]]:
    """Every class below this one that is imported.

    >>> int in subclasses(object), bool in subclasses(int), int in subclasses(int)
    (True, True, False)
    """
    children: list[type[Any]] = type.__subclasses__(cls)
    for child in children:
        yield child
        yield from subclasses(child)


class Catalogue(MutableMapping[str, Entry], Generic[Entry]):
    """Things by name: our own, and those of packages that name them in an entry-point group.

    Reading names imports nothing: a plug-in is imported when it is looked up. Our own names cannot be taken by one.

    Parameters
    ----------
    group : the entry-point group
    kind : what a plug-in gives, itself or as the result of a function without arguments
    own : what there is without plug-ins
    reserved : names that mean something else on the command line

    Examples
    --------
    >>> colours = Catalogue("example.colours", str, {"red": "#f00"})
    >>> colours["red"], "blue" in colours, [*colours]
    ('#f00', False, ['red'])
    """

    def __init__(
        self, group: str, kind: type[Entry], own: Mapping[str, Entry], *, reserved: Collection[str] = ()
    ) -> None:
        self.group, self.kind, self.reserved = group, kind, reserved
        self._entries = dict(own)  # and plug-ins, once they are loaded

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:
            if name not in self._plug_ins:
                raise KeyError(name)
            self._entries[name] = self._load(self._plug_ins[name])
        return self._entries[name]

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._entries[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._plug_ins

    def __iter__(self) -> Iterator[str]:
        return iter({**self._entries, **self._plug_ins})

    def __len__(self) -> int:
        return len({**self._entries, **self._plug_ins})

    def working(self) -> dict[str, Entry]:
        """All that can be used; plug-ins that cannot be loaded are left out and logged."""
        entries = {}
        for name in self:
            try:
                entries[name] = self[name]
            except PlugInError as error:
                log.warning("%s", error)
        return entries

    def plug_in(self, name: str) -> PlugIn | None:
        """Who brings this name; None for our own, and for names that nobody has."""
        return self._plug_ins[name][0] if name in self._plug_ins else None

    def plug_in_of(self, package: str) -> PlugIn | None:
        """The first plug-in from modules of this top-level Python package."""
        known = (brought[0] for brought in self._plug_ins.values())
        return next((each for each in known if each.module.partition(".")[0] == package), None)

    @cached_property
    def _plug_ins(self) -> dict[str, list[PlugIn]]:
        """By name, those of the same name together."""
        found: dict[str, list[PlugIn]] = {}
        for each in sorted(map(PlugIn.of, entry_points(group=self.group)), key=lambda each: each.name):
            if each.name in self._entries or each.name in self.reserved:
                log.warning("plug-in %s is left out: Shortlist uses this name itself.", each)
            else:
                found.setdefault(each.name, []).append(each)
        return found

    def _load(self, brought: list[PlugIn]) -> Entry:
        plug_in, *others = brought
        if others:
            packages = " and ".join(each.package for each in brought)
            raise PlugInError(f"{packages} both bring a plug-in {plug_in.name!r}. Uninstall one of them.")
        try:
            given = plug_in.load()
            entry = given() if callable(given) and not isinstance(given, self.kind) else given
        except Exception as error:
            raise PlugInError(
                f"plug-in {plug_in} cannot be loaded: {type(error).__name__}: {error}. Mend the package, or remove it: "
                f"pip uninstall {plug_in.package}"
            ) from error
        if not isinstance(entry, self.kind):
            raise PlugInError(
                f"plug-in {plug_in} gives a {type(entry).__name__}; it should be a {self.kind.__module__}."
                f"{self.kind.__name__}, or a function without arguments that returns one."
            )
        return entry
