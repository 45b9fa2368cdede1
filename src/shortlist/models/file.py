"""Save and load a trained ranker: one file with a readable header, loaded without executing code.

The file is text up to the payload, so that ``head`` shows what it holds::

    shortlist model 2
    {"model": "APBoost", "created": ..., "schema": ..., ...}
    sha256 of the header line and the payload
    payload: the estimator as skops stores it, trees as XGBoost's own UBJSON
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import xgboost
from sklearn.utils.validation import check_is_fitted

from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError, ShortlistError, TableError
from shortlist.models.examine import ExaminedError, beside_limits, examine, is_known, remember
from shortlist.models.moved import with_todays_names
from shortlist.models.plain import read_plain
from shortlist.rankers.base import Ranker
from shortlist.tables.io.paths import named_path
from shortlist.tables.io.write import atomic_path

#: 2: classes are named by their places since the rooms got sub-rooms; files of format 1 are read through a table.
FORMAT = 2
MAGIC = "shortlist model "
ANEW = "Copy the file anew from where it was written, or train the model again."
#: An honest model unpacks to some thirteen times its size; a bomb to a thousand times.
MOST_UNPACKED, MOST_TIMES = 64 * 2**20, 200
LIBRARIES = ("numpy", "scikit-learn", "skops", "xgboost-cpu", "xgboost")
#: As they are imported. Nobody is told to install another package because a file names it.
_IMPORTED = ("numpy", "scipy", "sklearn", "skops", "xgboost")


class ModelFileError(TableError):
    """A file is not a model, is damaged, or was written by a newer version."""


def save(ranker: Ranker, path: str | Path, **facts: Any) -> None:
    """Write a trained ranker to one file; a crash leaves the old file.

    Parameters
    ----------
    facts : JSON-able facts for the header, such as ``budget=50`` or ``measures={...}``

    Examples
    --------
    >>> import tempfile
    >>> from shortlist.rankers import Baseline
    >>> ranker = Baseline().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ranker, f"{folder}/risk.shortlist", budget=1)
    ...     read_header(f"{folder}/risk.shortlist")["budget"]
    ...     bool((load(f"{folder}/risk.shortlist").decision_function([[3.0]]) > 0).all())
    1
    True
    """
    from shortlist.models import by_skops  # noqa: PLC0415  which takes longer to load than all else

    if not isinstance(ranker, Ranker):
        raise InvalidInputError(
            f"{type(ranker).__name__} is no ranker, and a model file holds one. Of an estimator or a pipeline, "
            "Baseline(estimator=...) makes a ranker."
        )
    check_is_fitted(ranker)
    about = {**_header(ranker, by_skops.plug_in_facts(ranker, facts.get("name"))), **facts}
    payload = by_skops.write(ranker, about)
    header = json.dumps(about, ensure_ascii=False, default=str).encode()
    checksum = _checksum(header, payload)
    with atomic_path(path) as temporary:
        temporary.write_bytes(b"%s%d\n%s\n%s\n%s" % (MAGIC.encode(), FORMAT, header, checksum, payload))
    remember(checksum.decode())


def load(path: str | Path) -> Ranker:
    """Read a trained ranker back; refuses files that are damaged, newer, or hold anything but our own classes.

    A file that was not saved by this user is opened in a child process first, once.
    """
    return open_model(path)[0]


def open_model(path: str | Path) -> tuple[Ranker, dict[str, Any]]:
    """The ranker and the header of a file, read once; refuses what ``load`` refuses."""
    content = _content(path)
    checksum = _split(path, content).checksum
    if not is_known(checksum):
        _examine(path, content)
        remember(checksum)
    return parsed(path, content)


def parsed(path: str | Path, content: bytes) -> tuple[Ranker, dict[str, Any]]:
    """The ranker and the header in the content of a file, whoever wrote it; ``path`` is for messages."""
    parts = _split(path, content)
    with foreign(path):
        payload = parts.payload()
        # XGBoost warns of every model that an older release of it wrote; that these score alike is ours to hold.
        with xgboost.config_context(verbosity=0):
            ranker = read_plain(payload)
            if ranker is None:
                ranker = _read_by_skops(path, payload, parts.header)
    if not isinstance(ranker, Ranker):
        raise ModelFileError(
            f"{path} holds {type(ranker).__name__}, which is no ranker; do not use this file."
        )
    return ranker, parts.header


def _read_by_skops(path: str | Path, payload: bytes, header: dict[str, Any]) -> Any:
    with beside_limits():
        from shortlist.models import by_skops  # noqa: PLC0415  which takes longer to load than all else

    try:
        return by_skops.read(payload, header)
    except by_skops.StrangeTypesError as strange:
        raise ModelFileError(f"{path} holds {strange}") from None


@contextmanager
def foreign(path: str | Path) -> Iterator[None]:
    """Whatever a file makes libraries raise is a refusal: its checksum holds, so it was written like this.

    A library that lacks a part, such as one of another release, is no fault of the file.
    """
    try:
        yield
    except ShortlistError:
        raise
    except Exception as error:
        if isinstance(error, ImportError) and (error.name or "").partition(".")[0] in _IMPORTED:
            raise ModelFileError(
                f"{path} needs {error.name}, which cannot be imported here. The second line of the file names the "
                "libraries that it was written with; install those, or train the model again."
            ) from error
        raise ModelFileError(
            f"{path} holds what no model of ours does ({type(error).__name__}); do not use this file."
        ) from error


def _examine(path: str | Path, content: bytes) -> None:
    try:
        refusal = examine(path, content)
    except ExaminedError as error:
        raise ModelFileError(f"{path} is no sound model: {error}. Do not use this file.") from None
    if refusal is not None:
        raise ModelFileError(refusal)


def read_header(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself: model, versions, schema, and the facts given to ``save``."""
    return _split(path, _content(path)).header


def _header(ranker: Ranker, plug_in: dict[str, str] | None) -> dict[str, Any]:
    libraries = installed_libraries()
    if plug_in is not None:
        libraries[plug_in["package"]] = plug_in["version"]
    return {
        "model": type(ranker).__name__,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "shortlist": __version__,
        "libraries": libraries,
        "schema": None if ranker.schema_ is None else ranker.schema_.to_dict(),
        **({} if plug_in is None else {"plug-in": plug_in}),
    }


def installed_libraries() -> dict[str, str]:
    """The releases of the libraries that models rest on."""
    return {name: installed for name in LIBRARIES if (installed := _installed(name))}


def _installed(library: str) -> str | None:
    try:
        return version(library)
    except ModuleNotFoundError:
        return None


@dataclass(frozen=True)
class _Parts:
    """The parts of a file whose checksum holds."""

    header: dict[str, Any]
    checksum: str
    number: str
    packed: bytes

    def payload(self) -> bytes:
        """The estimator as skops stores it, with today's names of classes; refuses what would not fit in memory."""
        with zipfile.ZipFile(io.BytesIO(self.packed)) as stored:
            size = sum(each.file_size for each in stored.infolist())
        if size > MOST_UNPACKED + MOST_TIMES * len(self.packed):
            raise ModelFileError(
                f"the model unpacks to {size:,} bytes, which none of ours does; do not use this file."
            )
        return with_todays_names(self.packed) if self.number == "1" else self.packed


def _content(path: str | Path) -> bytes:
    try:
        return named_path(path).read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"no file {path}. Train a model first, or check the name.") from None
    except (OSError, RuntimeError) as error:
        raise ModelFileError(f"{path} cannot be read: {getattr(error, 'strerror', error)}.") from None


def _split(path: str | Path, data: bytes) -> _Parts:
    magic, parts = MAGIC.encode(), data.split(b"\n", 3)
    if not data.startswith(magic[: len(data)]):
        raise ModelFileError(f"{path} is not a Shortlist model; those are written by shortlist train.")
    if len(parts) < 4:
        raise ModelFileError(
            f"{path} is damaged: it ends after {len(data):,} bytes, before the model begins. {ANEW}"
        )
    number = parts[0][len(MAGIC) :].decode(errors="replace")
    if number.isdigit() and int(number) > FORMAT:
        raise ModelFileError(
            f"{path} was written by a newer Shortlist (format {number}). Upgrade: pip install -U shortlist"
        )
    if number not in ("1", str(FORMAT)) or _checksum(parts[1], parts[3]) != parts[2]:
        raise ModelFileError(
            f"{path} is damaged: its checksum does not match, so some of it was changed or cut off. {ANEW}"
        )
    with foreign(path):
        header = dict(json.loads(parts[1]))
    return _Parts(header, parts[2].decode(), number, parts[3])


def _checksum(header: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(header + b"\n" + payload).hexdigest().encode()
