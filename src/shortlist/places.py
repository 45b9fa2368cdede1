"""Where programs keep what they can make anew."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """The user's cache directory: as the environment names it, else the usual place."""
    named = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(named) if named else Path.home() / ".cache"
