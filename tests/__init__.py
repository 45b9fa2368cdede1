"""The tests; what each of them is about stands in its first line."""

import os

from shortlist.places import user_cache

# Kernels are compiled once for all tests, though a process of tests has a cache directory of its own.
os.environ.setdefault("NUMBA_CACHE_DIR", str(user_cache()))
