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
import json
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import skops.io
import xgboost
from sklearn.utils.validation import check_is_fitted

from shortlist._version import __version__
from shortlist.exceptions import TableError
from shortlist.models.classes import called_types, missing_package, plug_in_facts, strange_types
from shortlist.models.moved import with_todays_names
from shortlist.rankers.base import Ranker
from shortlist.tables.io.write import atomic_path

#: 2: classes are named by their places since the rooms got sub-rooms; files of format 1 are read through a table.
FORMAT = 2
MAGIC = "shortlist model "
ANEW = "Copy the file anew from where it was written, or train the model again."
LIBRARIES = ("numpy", "scikit-learn", "skops", "xgboost-cpu", "xgboost")


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
    check_is_fitted(ranker)
    payload = skops.io.dumps(ranker, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    header = json.dumps({**_header(ranker, facts), **facts}, ensure_ascii=False, default=str).encode()
    with atomic_path(path) as temporary:
        temporary.write_bytes(
            b"%s%d\n%s\n%s\n%s" % (MAGIC.encode(), FORMAT, header, _checksum(header, payload), payload)
        )


def load(path: str | Path) -> Ranker:
    """Read a trained ranker back; refuses files that are damaged, newer, or hold anything but our own classes."""
    return open_model(path)[0]


def open_model(path: str | Path) -> tuple[Ranker, dict[str, Any]]:
    """The ranker and the header of a file, read once; refuses what ``load`` refuses."""
    header, payload = _read(path)
    types = skops.io.get_untrusted_types(data=payload)
    strange = strange_types(types, header, called_types(payload))
    if strange:
        raise ModelFileError(_refusal(path, strange, header))
    # XGBoost warns of every model that an older release of it wrote; that these score alike is ours to hold.
    with xgboost.config_context(verbosity=0):
        return skops.io.loads(payload, trusted=types), header


def _refusal(path: str | Path, strange: list[str], header: dict[str, Any]) -> str:
    package = missing_package(header)
    if package is not None:
        return (
            f"{path} holds a model of a plug-in that is not installed here, {header['plug-in']['name']!r} of the "
            f"package {package}. If you trust it: pip install {package}"
        )
    return (
        f"{path} holds {', '.join(strange)}, which neither our models nor those of its plug-in need; do not use "
        "this file."
    )


def read_header(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself: model, versions, schema, and the facts given to ``save``."""
    header, _ = _read(path)
    return header


def _header(ranker: Ranker, facts: dict[str, Any]) -> dict[str, Any]:
    plug_in = plug_in_facts(ranker, facts.get("name"))
    libraries = {name: installed for name in LIBRARIES if (installed := _installed(name))}
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


def _installed(library: str) -> str | None:
    try:
        return version(library)
    except ModuleNotFoundError:
        return None


def _read(path: str | Path) -> tuple[dict[str, Any], bytes]:
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"no file {path}. Train a model first, or check the name.") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}.") from None
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
    return json.loads(parts[1]), with_todays_names(parts[3]) if number == "1" else parts[3]


def _checksum(header: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(header + b"\n" + payload).hexdigest().encode()
