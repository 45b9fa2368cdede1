"""What is asked of an OpenID provider over HTTP; whatever it answers, the server goes on."""

from __future__ import annotations

import json
import logging
import time
from typing import Any
from urllib.parse import urlsplit

import httpx

from shortlist.languages.words import Message
from shortlist.review.errors import BadRequestError
from shortlist.review.server.accounts import checked_email
from shortlist.review.server.oidc.identities import Identity
from shortlist.review.server.oidc.settings import OidcSettings, is_safe
from shortlist.review.server.oidc.tokens import (
    ProviderError,
    checked_subject,
    public_keys,
    read_id_token,
    untrusted,
)
from shortlist.review.web.site import is_loopback

log = logging.getLogger("shortlist.review")
SCOPE = "openid profile email"
#: Seconds: for one answer, and how long it is remembered what the provider says of itself.
TIMEOUT, REMEMBER = 10.0, 3600.0
MOST_BYTES = 256 * 1024
NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
#: Further addresses, which not every provider has.
OTHERS = ("userinfo_endpoint", "end_session_endpoint")


class Provider:
    """A provider that this server is registered with. It is first asked when somebody wants to sign in.

    Parameters
    ----------
    settings : the provider
    redirect_uri : where it sends people back to
    """

    def __init__(self, settings: OidcSettings, redirect_uri: str) -> None:
        self.settings, self.redirect_uri = settings, redirect_uri
        here = is_loopback(urlsplit(settings.issuer).hostname or "")
        self._http = httpx.Client(
            timeout=TIMEOUT, trust_env=not here, headers={"accept-encoding": "identity"}
        )
        self.forget()

    def forget(self) -> None:
        """Ask anew what the provider says of itself, and for its keys."""
        self._metadata: tuple[float, dict[str, Any]] = (float("-inf"), {})
        self._keys: tuple[float, Any] = (float("-inf"), None)

    def close(self) -> None:
        """Give all connections back."""
        self._http.close()

    def authorization_url(self, state: str, nonce: str, verifier: str) -> str:
        """Where a browser goes to sign in."""
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri  # noqa: PLC0415  an extra
        from authlib.oauth2.rfc7636 import create_s256_code_challenge  # noqa: PLC0415

        return str(
            prepare_grant_uri(
                self.metadata()["authorization_endpoint"], self.settings.client_id, "code", self.redirect_uri, SCOPE,
                state, nonce=nonce, code_challenge=create_s256_code_challenge(verifier), code_challenge_method="S256",
            )
        )  # fmt: skip

    def redeem(self, code: str, nonce: str, verifier: str) -> Identity:
        """Who has signed in, by a code that works once."""
        tokens = self._ask_for_tokens(code, verifier)
        token, access = tokens.get("id_token"), tokens.get("access_token")
        if not isinstance(token, str) or not isinstance(access, str | None):
            raise untrusted("id_token")
        try:
            claims = read_id_token(token, self._signing_keys(), self.settings, nonce, access)
        except ProviderError:  # its keys may have changed
            claims = read_id_token(token, self._signing_keys(anew=True), self.settings, nonce, access)
        return self._identity(claims, access)

    def sign_out_url(self, back: str) -> str | None:
        """Where a browser goes to sign out there, too; None: nowhere, or the provider cannot be asked."""
        from authlib.common.urls import add_params_to_uri  # noqa: PLC0415  an extra

        try:
            where = self.metadata().get("end_session_endpoint")
        except ProviderError:
            return None
        told = [("client_id", self.settings.client_id), ("post_logout_redirect_uri", back)]
        return None if where is None else str(add_params_to_uri(where, told))

    def metadata(self) -> dict[str, Any]:
        """What the provider says of itself."""
        at, found = self._metadata
        if time.monotonic() - at > REMEMBER:
            url = f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration"
            found = self._checked(self._ask("GET", url))
            self._metadata = time.monotonic(), found
        return found

    def _checked(self, told: dict[str, Any]) -> dict[str, Any]:
        if told.get("issuer") != self.settings.issuer:
            log.warning(
                "the OpenID provider calls itself %r; if that is right, write it as --oidc-issuer",
                told.get("issuer"),
            )
            raise untrusted("issuer")
        for name in (*NEEDED, *(each for each in OTHERS if each in told)):
            if not is_safe(told.get(name)):
                raise untrusted(name)
        return told

    def _signing_keys(self, *, anew: bool = False) -> Any:
        at, found = self._keys
        if anew or time.monotonic() - at > REMEMBER:
            found = public_keys(self._ask("GET", self.metadata()["jwks_uri"]))
            self._keys = time.monotonic(), found
        return found

    def _ask_for_tokens(self, code: str, verifier: str) -> dict[str, Any]:
        from authlib.oauth2.auth import ClientAuth  # noqa: PLC0415  an extra
        from authlib.oauth2.rfc6749.parameters import prepare_token_request  # noqa: PLC0415

        body = prepare_token_request(
            "authorization_code", "", self.redirect_uri, code=code, code_verifier=verifier
        )
        own, url = self.settings, self.metadata()["token_endpoint"]
        ours = ClientAuth(own.client_id, own.client_secret, self._way_to_show_who_we_are())
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        url, headers, body = ours.prepare("POST", url, headers, body)
        return self._ask("POST", url, headers=headers, content=body)

    def _way_to_show_who_we_are(self) -> str:
        if not self.settings.client_secret:
            return "none"
        known = self.metadata().get("token_endpoint_auth_methods_supported")
        only_in_body = isinstance(known, list) and "client_secret_basic" not in known
        return "client_secret_post" if only_in_body else "client_secret_basic"

    def _identity(self, claims: dict[str, Any], access: str | None) -> Identity:
        """Who it is; a provider that keeps its ID tokens short tells name and e-mail address where it is asked."""
        where = self.metadata().get("userinfo_endpoint")
        if where is not None and access and not (_name(claims) and claims.get("email")):
            told = self._ask("GET", where, headers={"authorization": f"Bearer {access}"})
            if checked_subject(told.get("sub")) != claims["sub"]:
                raise untrusted("userinfo")
            claims = {**told, **claims}
        return Identity(self.settings.issuer, claims["sub"], _name(claims), _verified_email(claims))

    def _ask(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        """An answer that is JSON, in time and of a size."""
        until = time.monotonic() + 2 * TIMEOUT
        try:
            with self._http.stream(method, url, follow_redirects=False, **options) as answer:
                content = b""
                for piece in answer.iter_raw():
                    content += piece
                    if len(content) > MOST_BYTES or time.monotonic() > until:
                        raise untrusted("too much, or too slow")
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            log.warning("the OpenID provider cannot be reached: %s", type(error).__name__)
            raise ProviderError(
                Message("%(name)s does not answer. Try again in a while, or sign in with a password.",
                        name=self.settings.title)
            ) from error  # fmt: skip
        return _read(answer.status_code, content)


def _read(status: int, content: bytes) -> dict[str, Any]:
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        told = None
    if status != 200 or not isinstance(told, dict):
        why = told.get("error") if isinstance(told, dict) else None
        raise untrusted(why if isinstance(why, str) and why.isidentifier() else f"HTTP {status}")
    return told


def _name(claims: dict[str, Any]) -> str:
    for claim in ("name", "preferred_username"):
        told = claims.get(claim)
        if isinstance(told, str) and told.strip():
            return "".join(each for each in told if each.isprintable()).strip()
    return ""


def _verified_email(claims: dict[str, Any]) -> str:
    """An address that the provider has seen to be theirs; some write "true"."""
    if claims.get("email_verified") not in (True, "true") or not isinstance(claims.get("email"), str):
        return ""
    try:
        return checked_email(claims["email"])
    except BadRequestError:
        return ""
