"""Where the classes inside older model files live today: one table, and a payload rewritten by it."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

#: Of skops: which classes to build, by module and name.
SCHEMA = "schema.json"
#: Modules of format 1 that moved since, as they are named in files.
MOVED = {
    "shortlist.rankers.ada_rank": "shortlist.rankers.linear.ada_rank",
    "shortlist.rankers.ap_boost": "shortlist.rankers.boosting.ap_boost",
    "shortlist.rankers.coordinate_ascent": "shortlist.rankers.linear.coordinate_ascent",
    "shortlist.rankers.lambda_mart": "shortlist.rankers.boosting.lambda_mart",
    "shortlist.rankers.list_net": "shortlist.rankers.nets.list_net",
    "shortlist.rankers.rank_boost": "shortlist.rankers.linear.rank_boost",
    "shortlist.rankers.rank_net": "shortlist.rankers.nets.rank_net",
    "shortlist.rankers.target.words": "shortlist.rankers.target.reading.words",
    "shortlist.rankers.target_tree": "shortlist.rankers.target.target_tree",
    "shortlist.rankers.tuning": "shortlist.rankers.boosting.tuning",
    "shortlist.stream.cold_start": "shortlist.stream.learners.cold_start",
    "shortlist.stream.growing": "shortlist.stream.learners.growing_array",
    "shortlist.stream.kernel_perceptron": "shortlist.stream.learners.kernel_perceptron",
    "shortlist.stream.labels": "shortlist.stream.learners.labels",
    "shortlist.stream.open_window": "shortlist.stream.window",
    "shortlist.stream.perceptron": "shortlist.stream.learners.perceptron",
    "shortlist.stream.query_plan": "shortlist.stream.queries",
    "shortlist.stream.refit": "shortlist.stream.learners.refit",
    "shortlist.tables.feature": "shortlist.tables.columns.feature",
    "shortlist.tables.schema": "shortlist.tables.columns.schema",
}


def with_todays_names(payload: bytes) -> bytes:
    """A payload that names our classes by their places of today."""
    renamed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(payload)) as old, zipfile.ZipFile(renamed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == SCHEMA:
                content = json.dumps(json.loads(content, object_hook=_rename)).encode()
            new.writestr(name, content)
    return renamed.getvalue()


def _rename(node: dict[str, Any]) -> dict[str, Any]:
    module = node.get("__module__")
    return {**node, "__module__": MOVED[module]} if module in MOVED else node
