"""A provider, sign-ins that were begun and whose identities are known, put together for the pages of a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio
from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from shortlist.languages.words import Message
from shortlist.review.errors import NoQueueError
from shortlist.review.server.accounts import Accounts, Person
from shortlist.review.server.oidc.flows import Flows
from shortlist.review.server.oidc.identities import Identities
from shortlist.review.server.oidc.provider import Provider
from shortlist.review.server.oidc.settings import OidcSettings
from shortlist.review.web.site import Site

CALLBACK = "/oidc/callback"
#: So many requests wait for the provider at once: one that does not answer must not take all threads of the server.
AT_ONCE = 4
Answer = TypeVar("Answer")


@dataclass
class SignOn:
    """All that signing in with a provider needs."""

    provider: Provider
    flows: Flows
    identities: Identities
    waiting: anyio.CapacityLimiter

    @classmethod
    def of(cls, settings: OidcSettings, site: Site, accounts: Accounts, secret: str) -> SignOn:
        """Put together; the secret signs cookies."""
        provider = Provider(settings, f"{site.url}{CALLBACK}")
        return cls(provider, Flows(secret), Identities(accounts), anyio.CapacityLimiter(AT_ONCE))

    async def ask(self, question: Callable[..., Answer], *arguments: str) -> Answer:
        """Ask the provider, in a thread of few."""
        return await anyio.to_thread.run_sync(lambda: question(*arguments), limiter=self.waiting)

    async def is_known(self, person: Person) -> bool:
        """Whether somebody can sign in with the provider."""
        return await run_in_threadpool(self.identities.has, person, self.provider.settings.issuer)


def sign_on_of(request: Request) -> SignOn:
    """The provider of this server; refuses where there is none."""
    found: SignOn | None = request.app.state.sign_on
    if found is None:
        raise NoQueueError(Message("this server has no provider to sign in with. Sign in with a password."))
    return found
