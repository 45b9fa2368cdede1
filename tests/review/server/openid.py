"""A small OpenID provider on loopback: real HTTP, real signatures, and lies where a test wants them."""

import asyncio
import base64
import json
import re
import threading
import time
from contextlib import contextmanager
from urllib.parse import parse_qs, urlencode

import httpx
import uvicorn
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from shortlist.review.server.app import listen
from tests.review.server.conftest import ORIGIN, csrf_of

CLIENT, SECRET = "shortlist", "a secret of both"


class OpenIdProvider:
    """Lets everybody in as ``user``, by the authorization code flow with PKCE.

    Attributes that a test sets: ``claims`` (what ID tokens say otherwise, None: leave it out), ``metadata`` (the same
    for the provider itself), ``make_token`` (claims to ID token), ``answers`` (a whole answer by path), ``redirect``
    (what is added to the address that leads back).
    """

    def __init__(self):
        self.key = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
        self.asked = []
        self.reset()

    def reset(self):
        self.user = {"sub": "u-1", "name": "Ann Smith", "email": "ann@example.org", "email_verified": True}
        self.claims, self.metadata, self.answers, self.redirect, self.userinfo = {}, {}, {}, {}, None
        self.make_token, self.codes, self.secret = self.signed, {}, SECRET
        self.asked.clear()

    # -- what it tells

    def signed(self, claims):
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)

    def unsigned(self, claims):
        return ".".join((_part({"alg": "none"}), _part(claims), ""))

    def signed_with_what_everybody_knows(self, claims):
        """The classic: the public key as the secret of an HMAC."""
        public = OctKey.import_key(self.key.as_pem(private=False))
        return jwt.encode({"alg": "HS256", "kid": self.key.kid}, claims, public, ["HS256"])

    def signed_by_another(self, claims):
        other = RSAKey.generate_key(2048)
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, other)

    def id_token(self, nonce):
        now = int(time.time())
        told = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce, **self.user}
        return self.make_token({k: v for k, v in {**told, **self.claims}.items() if v is not None})

    async def configuration(self, request):
        ends = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks",
                "userinfo_endpoint": "userinfo", "end_session_endpoint": "leave"}  # fmt: skip
        told = {"issuer": self.url, **{name: f"{self.url}/{path}" for name, path in ends.items()}}
        return JSONResponse({k: v for k, v in {**told, **self.metadata}.items() if v is not None})

    async def jwks(self, request):
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def authorize(self, request):
        asked = dict(request.query_params)
        assert (asked["response_type"], asked["client_id"], asked["code_challenge_method"]) == (
            "code",
            CLIENT,
            "S256",
        )
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        back = {"code": code, "state": asked["state"], **self.redirect}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}")

    async def token(self, request):
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        asked = self.codes.pop(form.get("code"), None)  # a code works once
        if asked is None or create_s256_code_challenge(form["code_verifier"]) != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        if not self._is_client(request, form) or form["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_client"}, 401)
        return JSONResponse(
            {"access_token": "access", "token_type": "Bearer", "id_token": self.id_token(asked["nonce"])}
        )

    def _is_client(self, request, form):
        if not self.secret:
            return form.get("client_id") == CLIENT and "authorization" not in request.headers
        if self.metadata.get("token_endpoint_auth_methods_supported") == ["client_secret_post"]:
            return (form.get("client_id"), form.get("client_secret")) == (CLIENT, self.secret)
        basic = base64.b64encode(f"{CLIENT}:{self.secret}".encode()).decode()
        return request.headers.get("authorization") == f"Basic {basic}"

    async def tell_userinfo(self, request):
        known = request.headers.get("authorization") == "Bearer access"
        return JSONResponse(self.userinfo or self.user) if known else Response(status_code=401)

    # -- how it runs

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            self.asked.append(scope["path"])
            answer = self.answers.get(scope["path"])
            if answer is not None:
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    @contextmanager
    def running(self):
        """Serve on a port of its own until the end."""
        ends = {"/.well-known/openid-configuration": self.configuration, "/jwks": self.jwks,
                "/authorize": self.authorize, "/userinfo": self.tell_userinfo}  # fmt: skip
        self._app = Starlette(
            routes=[
                *(Route(path, end) for path, end in ends.items()),
                Route("/token", self.token, methods=["POST"]),
            ]
        )
        with listen("127.0.0.1", 0) as sock:
            self.url = f"http://127.0.0.1:{sock.getsockname()[1]}"
            server = uvicorn.Server(uvicorn.Config(self, log_level="critical", lifespan="off"))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
            thread.start()
            while not server.started:
                time.sleep(0.01)
            try:
                yield self
            finally:
                server.should_exit = True
                thread.join()


async def hang_up(scope, receive, send):
    """An answer that is cut off."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
    await send({"type": "http.response.body", "body": b"{", "more_body": False})


async def never(scope, receive, send):
    """No answer until the other side gives up."""
    while (await receive())["type"] != "http.disconnect":
        await asyncio.sleep(0)


async def drip(scope, receive, send):
    """An answer that takes long, a byte at a time."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(60):
        await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await asyncio.sleep(0.05)


def _part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


# -- a browser between the two


def begin(http, start="/base/oidc/login", **form):
    """The address of the provider that a browser is sent to."""
    if form or start != "/base/oidc/login":
        page = http.post(start, data=form)
        assert page.status_code == 200, page.text
        return re.search(r'content="0;url=([^"]+)"', page.text)[1].replace("&amp;", "&")
    answer = http.get(start, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def at_provider(address):
    """What the provider answers: the address that leads back."""
    back = httpx.get(address, trust_env=False)
    assert back.status_code == 307, back.text
    return back.headers["location"].removeprefix(ORIGIN)


def sign_in(http, start="/base/oidc/login", **form):
    answer = http.get(at_provider(begin(http, start, **form)))
    if answer.status_code == 200 and '"X-CSRF-Token"' in answer.text:
        http.headers["x-csrf-token"] = csrf_of(answer.text)
    return answer


def names(team):
    return {person.name: person.role for person in team.server.accounts.people()}
