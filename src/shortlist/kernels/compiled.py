"""The one way in which kernels are compiled and kept: each with its types in a file of its own.

Numba's own cache keeps an index beside numbered files. It writes the index first, so that a process which starts in
that moment runs what the file held before: the kernel as it was before an edit, or code of another numba. And two
processes that compile for different types may both take the first number, and leave code for one type under the
name of the other. Here a file holds the key that it answers to, and is there as a whole or not at all.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from numba import njit
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from shortlist.kernels.cache_folder import make_folder, say_once, usable_folder


def compiled(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a kernel when it is first called, without the GIL; options are those of numba's ``njit``.

    Only for functions of modules in this room: their sources decide which compiled code is found.

    >>> @compiled
    ... def double(x):
    ...     return 2 * x
    >>> double(3), double(1.5)
    (6, 3.0)
    """
    if function is None:
        return partial(compiled, **options)
    if function.__closure__:
        raise TypeError(
            f"{function.__qualname__} uses variables of another function; give them as arguments."
        )
    kernel = njit(**{"nogil": True, **options})(function)
    kernel._cache = KernelFiles(function)
    return kernel


class KernelFiles(NullCache):
    """The compiled code of one kernel, a file for each combination of types.

    Numba asks here before it compiles, under its own lock, and hands over what it has compiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The code for these types, or None if it has to be compiled."""
        target_context.refresh()
        folder = usable_folder()
        if folder is None:
            return None
        key = self._key(folder, sig, target_context.codegen())
        # Whatever is wrong with a file, the kernel can be compiled, and the file is then replaced.
        try:
            found, code = pickle.loads(_read(self._path(folder, key)))
            return CompileResult._rebuild(target_context, *code) if found == key else None
        except Exception:
            return None

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Keep the code for these types, unless it holds addresses of this process."""
        folder = usable_folder()
        if folder is None or data.lifted or data.library.has_dynamic_globals:
            return
        key = self._key(folder, sig, data.codegen)
        try:
            make_folder(folder)  # another process may have removed it since
            _write(self._path(folder, key), dumps((key, data._reduce())))
        except OSError as problem:
            say_once(f"{problem}. Set NUMBA_CACHE_DIR to a folder that can be written to")

    def _key(self, folder: Path, types: Any, codegen: Any) -> tuple[Any, ...]:
        """All that the code depends on: versions, kernel, types of arguments, CPU."""
        code = self._function.__code__
        kernel = self._function.__module__, self._function.__qualname__, code.co_firstlineno, code.co_code
        return folder.name, kernel, types, codegen.magic_tuple()

    def _path(self, folder: Path, key: tuple[Any, ...]) -> Path:
        return folder / f"{self._function.__name__}-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}"


def _read(path: Path) -> bytes:
    """What a file holds after its checksum; it must not be unpickled if it is damaged."""
    content = path.read_bytes()
    digest, code = content[:32], content[32:]
    if hashlib.sha256(code).digest() != digest:
        raise ValueError(f"{path} is damaged")
    return code


def _write(path: Path, code: bytes) -> None:
    """Write beside the file and put it in place as a whole: who reads finds all of it or nothing."""
    beside = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        beside.write_bytes(hashlib.sha256(code).digest() + code)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
