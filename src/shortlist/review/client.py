"""A Python client of the REST API."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx
import polars as pl

from shortlist.review.errors import (
    AnsweredError,
    BadRequestError,
    ForbiddenError,
    LeaseLostError,
    NoQueueError,
    NothingToUndoError,
    NotShownError,
    NotSignedInError,
    ReadOnlyError,
    ReviewError,
    StoreError,
)
from shortlist.review.web.bodies import (
    MOST_IMPORTS,
    ErasureOut,
    EventOut,
    NameErasureOut,
    QueueOut,
    RankedOut,
    RowOut,
    TurnOut,
)
from shortlist.review.web.case.bodies import CopyOut, DisputeOut, FiguresOut, ListOut, RelatedOut
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict

ERRORS: dict[str, type[ReviewError]] = {
    error.__name__: error
    for error in (
        AnsweredError, BadRequestError, ForbiddenError, LeaseLostError, NoQueueError, NotShownError, NotSignedInError,
        NothingToUndoError, ReadOnlyError, StoreError,
    )
}  # fmt: skip


class Client:
    """Talks to a running review: all that the page does, from Python.

    ``Client.of_workspace("claims.review", who="ann")`` finds the server that runs on this machine::

        with Client.of_workspace("claims.review", who="ann") as client:
            turn = client.turn()
            while turn.state == "row":
                turn = client.record(turn.shown, "wanted" if judge(turn.fields) else "not wanted")

    Parameters
    ----------
    url, token : where the server is, and its access token
    queue : the name of the queue
    who : the name under which verdicts are logged
    """

    def __init__(
        self, url: str, token: str, queue: str, *, who: str = "program", http: httpx.Client | None = None
    ) -> None:
        headers = {"authorization": f"Bearer {token}", "x-reviewer": quote(who)}
        self._http = http or httpx.Client(base_url=url, timeout=60, trust_env=False)
        self._http.headers.update(headers)
        self._path = f"/api/v1/queues/{quote(queue, safe='')}"
        self._last: int | None = None  # the verdict that undo takes back, as far as this client was told

    @classmethod
    def of_workspace(cls, folder: str | Path, *, who: str = "program") -> Self | None:
        """A client of the server that owns a queue; None if no server runs."""
        workspace = Workspace(folder)
        running = workspace.running() if workspace.exists else None
        return None if running is None else cls(running["url"], running["token"], workspace.name, who=who)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connection back."""
        self._http.close()

    def queue(self) -> QueueOut:
        """The queue at a glance."""
        return QueueOut(**self._call("GET", ""))

    def turn(self) -> TurnOut:
        """The row on your screen, or the next one."""
        return self._turn("/turn")

    def record(
        self,
        shown: int,
        verdict: Verdict | str,
        *,
        note: str = "",
        reason: str = "",
        also: Iterable[str] = (),
    ) -> TurnOut:
        """A verdict on the row you were shown, and on others by their ids; returns the next one.

        Sent twice it is the same answer.
        """
        body = {"shown": shown, "verdict": str(verdict), "note": note, "reason": reason, "also": [*also]}
        return self._turn("/verdicts", json=body)

    def decide(
        self, ids: Iterable[str], verdict: Verdict | str, *, note: str = "", reason: str = ""
    ) -> QueueOut:
        """One verdict for several open rows; undo takes them back together."""
        body = {"ids": [*ids], "verdict": str(verdict), "note": note, "reason": reason}
        decided = self._call("POST", "/decisions", json=body)
        self._last = None
        return QueueOut(**decided)

    def take(self, id: str) -> TurnOut:
        """Put a row that you chose on your screen."""
        return self._turn("/take", json={"id": id})

    def undo(self, verdict: int | None = None) -> TurnOut:
        """Take back your last verdict, or one by its number.

        Your last one is that of which this client was told, so that it is taken back once if this is called again after
        an error; what was said elsewhere under your name ``turn`` tells. After ``decide`` and ``override`` the server
        looks for it: look at the log before you call this again.
        """
        return self._turn("/undo", json={"verdict": self._last if verdict is None else verdict})

    def park(self, shown: int, seconds: float | None = None, *, note: str = "") -> TurnOut:
        """Put the shown row off."""
        body = {"shown": shown, "seconds": seconds, "note": note}
        return self._turn("/park", json=body)

    def ranking(self) -> list[RankedOut]:
        """The best rows that nobody has."""
        return [RankedOut(**each) for each in self._call("GET", "/ranking")]

    def digest(self) -> dict[str, Any]:
        """A fingerprint of the whole ranking, its version, and the event of the log that it follows."""
        return self._call("GET", "/digest")

    def row(self, id: str) -> RowOut:
        """A row, why it is where it is, and its history."""
        return RowOut(**self._call("GET", f"/rows/{quote(id, safe='')}"))

    def rows(self, **asked: Any) -> ListOut:
        """A page of the queue as a list, such as ``standing="later"`` or ``text="Rome", sort="amount", page=2``."""
        return ListOut(**self._call("GET", "/rows", params=asked))

    def related(self, id: str) -> list[RelatedOut]:
        """What other rows share with a row."""
        return [RelatedOut(**each) for each in self._call("GET", f"/related/{quote(id, safe='')}")]

    def copies(self, id: str) -> list[CopyOut]:
        """Rows without a verdict that are nearly the same."""
        return [CopyOut(**each) for each in self._call("GET", f"/copies/{quote(id, safe='')}")]

    def figures(self) -> FiguresOut:
        """What a lead looks at."""
        return FiguresOut(**self._call("GET", "/figures"))

    def override(self, id: str, verdict: Verdict | str, note: str = "") -> QueueOut:
        """Decide on a row, whatever was said before."""
        body = {"verdict": str(verdict), "note": note}
        decided = self._call("POST", f"/rows/{quote(id, safe='')}/override", json=body)
        self._last = None
        return QueueOut(**decided)

    def assign(self, id: str, to: str | None) -> QueueOut:
        """Give an open row to somebody, who gets it first; None: to nobody."""
        return QueueOut(**self._call("POST", f"/rows/{quote(id, safe='')}/assign", json={"to": to}))

    def disputes(self) -> list[DisputeOut]:
        """Rows on which two people differ; ``override`` settles one."""
        return [DisputeOut(**each) for each in self._call("GET", "/disputes")]

    def note(self, id: str, text: str) -> QueueOut:
        """A remark on a row."""
        return QueueOut(**self._call("POST", f"/rows/{quote(id, safe='')}/notes", json={"note": text}))

    def append(self, frame: pl.DataFrame) -> QueueOut:
        """Add rows; they join the ranking at once."""
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        headers = {"content-type": "application/octet-stream"}
        return QueueOut(**self._call("POST", "/rows", content=buffer.getvalue(), headers=headers))

    def import_verdicts(self, verdicts: Iterable[tuple[str, Verdict | str, str]]) -> int:
        """Learn verdicts known before, as (id, verdict, note); returns how many were new."""
        known = [{"id": id, "verdict": str(verdict), "note": note} for id, verdict, note in verdicts]
        parts = [known[start : start + MOST_IMPORTS] for start in range(0, len(known), MOST_IMPORTS)]
        return sum(int(self._call("POST", "/imports", json=part)["imported"]) for part in parts)

    def change(self, **settings: Any) -> QueueOut:
        """Change settings, such as ``budget=200``."""
        return QueueOut(**self._call("PATCH", "/settings", json=settings))

    def erase(self, ids: Iterable[str]) -> ErasureOut:
        """Forget what is known of rows and what was written of them; it cannot be undone."""
        return ErasureOut(**self._call("POST", "/erasures", json={"ids": [*ids]}))

    def erase_name(self, name: str) -> NameErasureOut:
        """Forget what a person is called, in all queues of the server, and their account; it cannot be undone."""
        return NameErasureOut(**self._ask("POST", "/api/v1/people/erasures", json={"name": name}).json())

    def log(self, *, after: int = 0, limit: int = 100, kind: str | None = None) -> list[EventOut]:
        """Events in the order of the log."""
        asked = {"after": after, "limit": limit, **({"kind": kind} if kind else {})}
        return [EventOut(**each) for each in self._call("GET", "/log", params=asked)]

    def verdicts(self) -> pl.DataFrame:
        """The verdicts in force."""
        return pl.read_parquet(io.BytesIO(self._send("GET", "/verdicts.parquet").content))

    def train(self) -> Path:
        """Train a model from the verdicts; returns its file on the server."""
        return Path(self._call("POST", "/model")["model"])

    def _turn(self, path: str, **options: Any) -> TurnOut:
        turn = TurnOut(**self._call("POST", path, **options))
        self._last = turn.undo
        return turn

    def _call(self, method: str, path: str, **options: Any) -> Any:
        return self._send(method, path, **options).json()

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self._ask(method, self._path + path, **options)

    def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        response = self._http.request(method, path, **options)
        if response.is_success:
            return response
        try:
            said = response.json()
        except ValueError:
            said = {"detail": response.text}
        # A server that stops has no time for more than a sentence: to be sent again, as where a log cannot be written.
        unnamed = StoreError if response.status_code == StoreError.status else ReviewError
        raise ERRORS.get(said.get("kind", ""), unnamed)(said["detail"])
