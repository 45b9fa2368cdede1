"""Sign-ins that were begun: each is bound to one browser, by a cookie that we have signed, and can be ended once."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from itsdangerous import BadSignature, URLSafeTimedSerializer

#: How long somebody may take at the provider, in seconds.
SECONDS = 600
MOST_ENDED = 100_000


def _made() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Begun:
    """A sign-in that waits for the provider.

    state : comes back with the answer: who began and who ends it are one browser
    nonce : comes back in the ID token: it was made for this sign-in
    verifier : only who has it can use the code (PKCE)
    token, name : the invitation that is accepted, and the name that was chosen
    session : the session of whoever connects an account that is there
    """

    state: str = field(default_factory=_made)
    nonce: str = field(default_factory=_made)
    verifier: str = field(default_factory=_made)
    token: str = ""
    name: str = ""
    session: str = ""


class Flows:
    """Sign-ins that were begun, as cookies; those that were ended are remembered until they are too old anyway.

    >>> flows = Flows("secret")
    >>> begun = Begun()
    >>> cookie = flows.cookie(begun)
    >>> flows.end(cookie, "another state") is None, flows.end(cookie, begun.state) == begun
    (True, True)
    >>> flows.end(cookie, begun.state) is None
    True
    """

    def __init__(self, secret: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._signer = URLSafeTimedSerializer(secret, salt="oidc")
        self._ended: dict[str, float] = {}
        self._clock, self._changing = clock, threading.Lock()

    def cookie(self, begun: Begun) -> str:
        """What the browser keeps meanwhile."""
        return str(self._signer.dumps(asdict(begun)))

    def end(self, cookie: str, state: str) -> Begun | None:
        """The sign-in that a browser comes back from; None: it was not begun there, is too old, or was ended."""
        try:
            begun = Begun(**self._signer.loads(cookie, max_age=SECONDS))
        except (BadSignature, ValueError, TypeError):
            return None
        if not hmac.compare_digest(begun.state.encode(), state.encode(errors="replace")):
            return None
        now = self._clock()
        with self._changing:
            self._forget(now)
            if begun.state in self._ended:
                return None
            self._ended[begun.state] = now + SECONDS + 1
        return begun

    def _forget(self, now: float) -> None:
        """Those that are too old; they stand in the order in which they were ended."""
        while self._ended and (len(self._ended) > MOST_ENDED or next(iter(self._ended.values())) <= now):
            del self._ended[next(iter(self._ended))]
