"""Results that are kept: what each says of how it was made, and how it is read.

A study that prints JSON puts its figures under ``found``, and beside them, under ``made by``, the command, the version,
the machine, its load and the day. Papers carry the same among their own entries. Files of before studies did so have
their figures alone: of those nothing more is known than the name of the study, and pages say so.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shortlist import __version__

#: Raw runs (``*.jsonl``) stay on the machine; summaries (``*.json``) that a page quotes are committed.
RESULTS = Path(__file__).parent / "results"
#: What a result says of itself, and as a sentence has it.
FACTS = {
    "command": "`{}`",
    "shortlist": "version {}",
    "python": "Python {}",
    "machine": "{}",
    "cores": "{} cores",
    "load": "a load of {} at the end",
    "date": "{}",
}
#: The day by which results without such facts were in the repository, as its history has it.
KEPT_BY = "2026-11-17"
NAMES = {"shortlist": "version", "python": "Python"}
#: What is said of a table of which no result is kept.
NOT_KEPT = "No result is kept of this: by which version, on which machine, under which load and when was not recorded."


def made_by() -> dict[str, Any]:
    """How the result is made that is about to be told."""
    return {
        **_command(),
        "shortlist": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _command() -> dict[str, str]:
    """As it was typed; a study that is called from Python has none."""
    program, *arguments = sys.argv
    room = Path(program).parent.name
    if Path(program).name != "__main__.py" or room not in ("studies", "release"):
        return {}
    return {"command": shlex.join(["python", "-m", room, *arguments])}


def stamped(found: Any) -> dict[str, Any]:
    """Figures with how they were made; a paper has said so itself."""
    if isinstance(found, dict) and "made by" in found:
        return found
    return {"made by": made_by(), "found": found}


def kept(name: str) -> Any:
    """The figures that a study has found, such as ``quality.leaks``."""
    return figures_of(_read(name))


def figures_of(whole: Any) -> Any:
    """What was found, of what a study has printed."""
    return whole["found"] if isinstance(whole, dict) and whole.keys() == {"made by", "found"} else whole


def facts(name: str) -> dict[str, Any]:
    """What a result says of how it was made; less than all of it, or nothing, where it is older."""
    whole = _read(name)
    return whole.get("made by", {}) if isinstance(whole, dict) else {}


def _read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def how(name: str) -> str:
    """A sentence for pages: command, version, machine, load and day, and which of them nobody wrote down."""
    known = facts(name)
    missing = [NAMES.get(fact, fact) for fact in FACTS if fact not in known]
    place = f"`studies/results/{name}.json`"
    if not known:
        missing[0] = "options"  # the name of a result is that of its study
        study = f"`python -m studies {_study(name)}`"
        return f"{place}, by {study}, kept by {KEPT_BY}; {_and(missing)} were not recorded."
    rest = f"; {_and(missing)} not recorded" if missing else ""
    return f"{place}: {in_words(known)}{rest}."


def in_words(known: dict[str, Any]) -> str:
    """What is known of how a result was made.

    >>> in_words({"shortlist": "0.2.0", "cores": 2, "date": "2026-11-17"})
    'version 0.2.0, 2 cores, 2026-11-17'
    """
    return ", ".join(words.format(known[fact]) for fact, words in FACTS.items() if fact in known)


def _study(name: str) -> str:
    """The study of a result, which may have a part: that of ``quality.ap_boost.whole`` is ``quality.ap_boost``."""
    return ".".join(name.split(".")[:2])


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
