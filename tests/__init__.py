"""The tests; what each of them is about stands in its first line."""

import os
from pathlib import Path

# Kernels are compiled once for all tests, though a process of tests has a cache directory of its own.
os.environ.setdefault("NUMBA_CACHE_DIR", os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"))
