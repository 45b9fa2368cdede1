"""The estimator in a model file as skops writes and reads it, which runs no code of the file."""

from __future__ import annotations

import zipfile
from typing import Any

import skops.io
from skops.io.exceptions import UnsupportedTypeException

from shortlist.exceptions import InvalidInputError
from shortlist.models.classes import called_types, missing_package, plug_in_facts, strange_types
from shortlist.rankers.base import Ranker

__all__ = ["StrangeTypesError", "plug_in_facts", "read", "write"]


class StrangeTypesError(Exception):
    """A file holds types that it has no business to hold; the message names them and says what to do."""


def write(ranker: Ranker, header: dict[str, Any]) -> bytes:
    """The ranker as bytes; refuses one that holds what ``read`` would refuse."""
    try:
        payload = skops.io.dumps(ranker, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
        _, strange = _types(payload, header)
    except UnsupportedTypeException as error:
        strange = [str(error)]
    if strange:
        raise InvalidInputError(
            f"the ranker holds {', '.join(strange)}. A model file may not: it is loaded without running code, by "
            "classes that are known to do no harm. Nothing was written. Use another estimator, or a function by its "
            "name (act='log'), or register the ranker with all classes that it needs, MODELS[name] = Model(..., "
            "stores=...), and save it with name=name."
        )
    return payload


def read(payload: bytes, header: dict[str, Any]) -> Any:
    """What was written, whoever wrote it; refuses types that a model of this header does not need."""
    types, strange = _types(payload, header)
    if strange:
        raise StrangeTypesError(_refusal(strange, header))
    return skops.io.loads(payload, trusted=types)


def _types(payload: bytes, header: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The types in it that skops does not trust by itself, and those of them that we do not either."""
    types = skops.io.get_untrusted_types(data=payload)
    return types, strange_types(types, header, called_types(payload))


def _refusal(strange: list[str], header: dict[str, Any]) -> str:
    package = missing_package(header)
    if package is not None:
        return (
            f"a model of a plug-in that is not installed here, {header['plug-in']['name']!r} of the "
            f"package {package}. If you trust it: pip install {package}"
        )
    return (
        f"{', '.join(strange)}, which neither our models nor those of its plug-in need; do not use this file."
    )
