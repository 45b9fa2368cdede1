"""Which OpenID provider people may sign in with, and what becomes of somebody who is new."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from shortlist.exceptions import InvalidInputError, MissingExtraError
from shortlist.review.web.access import Role
from shortlist.review.web.site import is_loopback

#: Where the secret of the client is read from: no list of processes shows it.
SECRET = "SHORTLIST_OIDC_CLIENT_SECRET"


@dataclass(frozen=True)
class OidcSettings:
    """A provider as this server is registered with it.

    Parameters
    ----------
    issuer : what the provider calls itself
    client_id, client_secret : what it calls us, and what shows that it is us; no secret: PKCE alone
    name : what pages call the provider
    new_role : what somebody without an invitation becomes; None: they get no account
    """

    issuer: str
    client_id: str
    client_secret: str = ""
    name: str = ""
    new_role: Role | None = None

    def __post_init__(self) -> None:
        problems = [*self._problems()]
        if problems:
            raise InvalidInputError(" ".join(problems))
        if find_spec("authlib") is None:
            raise MissingExtraError.of("authlib", "oidc")

    @classmethod
    def of_environment(
        cls, issuer: str | None, client_id: str | None, name: str | None = None, new_role: str | None = None
    ) -> OidcSettings | None:
        """What was asked for, with the secret of the environment; None: nothing was."""
        if issuer is None and client_id is None and name is None and new_role is None:
            return None
        if issuer is None or client_id is None:
            raise InvalidInputError(
                "to sign in with an OpenID provider both are needed: --oidc-issuer, what it calls itself, and "
                "--oidc-client-id, what it calls this server."
            )
        role = None if new_role is None else Role.read(new_role)
        return cls(issuer, client_id, os.environ.get(SECRET, ""), name or "", role)

    @property
    def title(self) -> str:
        """What pages call the provider.

        >>> OidcSettings("https://login.example/realms/x", "shortlist").title
        'login.example'
        """
        return self.name or urlsplit(self.issuer).netloc

    def _problems(self) -> list[str]:
        found = []
        if not is_safe(self.issuer) or urlsplit(self.issuer).query or urlsplit(self.issuer).fragment:
            found.append(
                f"--oidc-issuer {self.issuer} must begin with https:// (or lead to this machine), without ? and #."
            )
        if not self.client_id or not (self.client_id + self.client_secret).isascii():
            found.append(f"--oidc-client-id and {SECRET} are what the provider gave you, in plain letters.")
        if len(self.name) > 60 or not self.name.isprintable():
            found.append("--oidc-name has at most 60 characters.")
        if self.new_role is Role.ADMIN:
            found.append("--oidc-new-role admin would make everybody an admin; use lead or less.")
        return found


def is_safe(url: object) -> bool:
    """Whether nobody on the way can read or change what is asked there.

    >>> [is_safe(url) for url in ("https://login.example/x", "http://127.0.0.1:99", "http://login.example", 7)]
    [True, True, False, False]
    """
    if not isinstance(url, str) or not url.isprintable() or " " in url or "\\" in url:
        return False
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
