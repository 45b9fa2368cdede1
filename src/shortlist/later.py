"""What is loaded when it is first used, so that a process that needs little of it starts soon."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def names_of(room: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names are loaded from their homes on first use.

    >>> look_up, names = names_of("a_room", {"sqrt": "math"})
    >>> look_up("sqrt")(9), names()
    (3.0, ['sqrt'])
    """

    def look_up(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return look_up, lambda: sorted({*homes, *vars(sys.modules.get(room, ModuleType(room)))} - _OWN)


#: What every module has, which is no name of its own.
_OWN = {*vars(ModuleType(""))}


class _Later(ModuleType):
    """Stands for a module until something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is not self:
            return getattr(import_module(self.__name__), name)
        if name.startswith("_"):
            raise AttributeError(name)
        return _Named(self.__name__, name)


@dataclass(frozen=True)
class _Named:
    """Stands for a class or a function that was imported by name, until it is called."""

    module: str
    name: str

    def __call__(self, *args: Any, **settings: Any) -> Any:
        return getattr(import_module(self.module), self.name)(*args, **settings)


@contextmanager
def imported_later(*names: str) -> Iterator[None]:
    """Within, an import of these modules gives what loads them when it is used; after it, imports are as ever.

    >>> with imported_later("wave"):
    ...     import wave
    >>> wave.open.__module__
    'wave'
    """
    ours = {name: _Later(name) for name in names if name not in sys.modules and find_spec(name)}
    for name, module in ours.items():
        package, _, inside = name.rpartition(".")
        if package:
            setattr(import_module(package), inside, module)
        sys.modules[name] = module
    try:
        yield
    finally:
        for name, module in ours.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def load_learners() -> None:
    """Load scikit-learn and XGBoost without what they import and a ranking does not use: half of a short run's time.

    For processes of our own, not for a user's.
    """
    with imported_later("scipy.stats", "pandas"):
        import_module("sklearn.base")
    with imported_later("sklearn.model_selection"):  # which XGBoost has for its own cross-validation
        import_module("xgboost")
