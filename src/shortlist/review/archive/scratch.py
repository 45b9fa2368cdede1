"""A folder for what is not finished: beside its target, and gone whatever happens."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shortlist.exceptions import InvalidInputError
from shortlist.review.workspace import lives


@contextmanager
def scratch(target: Path) -> Iterator[Path]:
    """A folder beside a target, on the same disk; what a process that was killed has left there is removed first.

    >>> import tempfile
    >>> with scratch(Path(tempfile.mkdtemp()) / "reviews.tar.gz") as place:
    ...     place.is_dir()
    True
    >>> place.exists()
    False
    """
    beside = target.absolute().parent
    if not beside.is_dir():
        raise InvalidInputError(f"there is no folder {beside}; make it first: mkdir -p {beside}")
    ours = re.compile(rf"\.{re.escape(target.name)}\.(\d+)\.[0-9a-f]+\.partial")
    for left in beside.iterdir():
        if (found := ours.fullmatch(left.name)) and not lives(int(found[1])):
            shutil.rmtree(left, ignore_errors=True)
    place = beside / f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.partial"
    try:
        place.mkdir(mode=0o700)
        yield place
    except OSError as error:
        raise InvalidInputError(
            f"cannot write to {beside} ({error.strerror or error}). Nothing was left there."
        ) from None
    finally:
        shutil.rmtree(place, ignore_errors=True)
