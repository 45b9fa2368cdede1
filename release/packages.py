"""What an install of Shortlist brings, from the metadata of what is installed: no network is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from shortlist import __version__

#: Licences under which the package may be passed on with what it needs, as their names begin or as trove calls them.
PERMISSIVE = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|0BSD|Zlib|Unlicense|MPL|Mozilla)", re.I
)


@dataclass(frozen=True)
class Package:
    """One installed distribution."""

    name: str
    version: str
    licence: str
    megabytes: float
    needs: tuple[str, ...]

    @property
    def is_permissive(self) -> bool:
        """Whether its licence is known to let us pass it on."""
        return bool(PERMISSIVE.search(self.licence))


def closure(root: str = "shortlist", extras: Iterable[str] = ()) -> dict[str, Package]:
    """All that the root needs, itself first; what is not installed is left out."""
    found: dict[str, Package] = {}
    waiting = [(root, tuple(extras))]
    while waiting:
        name, chosen = waiting.pop(0)
        if canonicalize_name(name) in found:
            continue
        try:
            made = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        wanted = list(_needed(made, chosen))
        needs = tuple(sorted({canonicalize_name(each.name) for each in wanted}))
        # Of a package that is installed from its folder, metadata are as old as the install.
        version = __version__ if name == "shortlist" else made.version
        found[canonicalize_name(name)] = Package(
            canonicalize_name(name), version, _licence(made), _megabytes(made), needs
        )
        waiting += [(each.name, tuple(each.extras)) for each in wanted]
    return found


def _needed(made: metadata.Distribution, extras: tuple[str, ...]) -> Iterator[Requirement]:
    for line in made.requires or ():
        need = Requirement(line)
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield need


def _licence(made: metadata.Distribution) -> str:
    told = made.metadata.get("License-Expression")
    lines = made.metadata.get_all("Classifier") or ()
    trove = [line.rpartition(" :: ")[2] for line in lines if line.startswith("License :: OSI Approved :: ")]
    # The old field holds the whole text of some licences.
    old = (made.metadata.get("License") or "").strip().partition("\n")[0]
    return told or "; ".join(trove) or old or _of_file(made)


def _of_file(made: metadata.Distribution) -> str:
    """The first line of the licence itself."""
    for each in made.files or ():
        if "licen" in each.name.lower() and made.locate_file(each).is_file():
            return each.read_text().strip().partition("\n")[0]
    return "unknown"


def _megabytes(made: metadata.Distribution) -> float:
    files = (Path(str(made.locate_file(each))) for each in made.files or ())
    return sum(each.stat().st_size for each in files if each.is_file()) / 1e6


def sizes(least: float = 5.0) -> list[dict[str, str | float]]:
    """What an install takes, the largest first; packages below so many MB are one line, and so is the whole."""
    found = sorted(closure().values(), key=lambda each: -each.megabytes)
    large = [each for each in found if each.megabytes >= least]
    rest = sum(each.megabytes for each in found[len(large) :])
    lines = [_line(each.name, each.megabytes, _needed_by(each, found)) for each in large]
    others = _line(f"{len(found) - len(large)} others", rest, "")
    return [*lines, others, _line(f"all {len(found)}", sum(each.megabytes for each in found), "")]


def _line(package: str, megabytes: float, needed_by: str) -> dict[str, str | float]:
    return {"package": package, "MB": round(megabytes, 1), "needed by": needed_by}


def _needed_by(package: Package, found: Iterable[Package]) -> str:
    return ", ".join(sorted(other.name for other in found if package.name in other.needs))


def size_main() -> None:
    """Print what an install takes, package by package, compiled files (*.pyc) included where they are."""
    for each in sizes():
        print(f"{each['MB']:7.1f} MB  {each['package']:<20} {each['needed by']}".rstrip())
