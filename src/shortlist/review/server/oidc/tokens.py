"""What an ID token must show before it is believed: signature, issuer, audience, times and nonce."""

from __future__ import annotations

from typing import Any

from shortlist.languages.words import Message
from shortlist.review.errors import ReviewError
from shortlist.review.server.oidc.settings import OidcSettings

#: Signed with a key that only the provider has. With "none" or "HS256" anybody could sign, who knows what we know.
ALGORITHMS = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)]
#: Clocks differ, in seconds.
LEEWAY = 60
MOST_SUBJECT = 255


class ProviderError(ReviewError):
    """The provider does not answer, or not as it should. No fault of this server, and nothing has changed."""

    status = 424


def untrusted(why: object) -> ProviderError:
    """An answer of the provider that shows too little, or something else."""
    return ProviderError(
        Message(
            "the answer of the provider cannot be trusted (%(reason)s). Try again; if it stays so, tell whoever runs "
            "this server.",
            reason=str(why)[:200],
        )
    )


def public_keys(told: dict[str, Any]) -> Any:
    """Keys that sign, of all that a provider publishes; kinds that we do not know are left out."""
    from joserfc.jwk import JWKRegistry, KeySet  # noqa: PLC0415  an extra

    found, published = [], told.get("keys")
    for each in published if isinstance(published, list) else ():
        if isinstance(each, dict) and each.get("kty") in ("RSA", "EC") and each.get("use", "sig") == "sig":
            try:
                found.append(JWKRegistry.import_key(each))
            except Exception:  # whatever a key of a stranger does to the libraries that read it
                continue
    if not found:
        raise untrusted("no keys")
    return KeySet(found)


def read_id_token(
    token: str, keys: Any, settings: OidcSettings, nonce: str, access_token: str | None
) -> dict[str, Any]:
    """The claims of an ID token that is for us, for this very sign-in, and now."""
    from authlib.oidc.core import CodeIDToken  # noqa: PLC0415  an extra
    from joserfc import jwt  # noqa: PLC0415
    from joserfc.jws import JWSRegistry  # noqa: PLC0415

    # Headers that nobody knows mean nothing, unless they say that they are critical.
    registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    try:
        read = jwt.decode(token, keys, algorithms=ALGORITHMS, registry=registry)
        options = {"iss": {"essential": True, "value": settings.issuer},
                   "aud": {"essential": True, "value": settings.client_id}}  # fmt: skip
        params = {"nonce": nonce, "client_id": settings.client_id, "access_token": access_token}
        claims = CodeIDToken(read.claims, read.header, options, params)
        claims.validate(leeway=LEEWAY)
    except Exception as error:  # whatever a token of a stranger does to the libraries that read it
        raise untrusted(error) from error
    return {**claims, "sub": checked_subject(claims["sub"])}


def checked_subject(subject: Any) -> str:
    """What a provider calls a person."""
    if not isinstance(subject, str) or not 0 < len(subject) <= MOST_SUBJECT:
        raise untrusted("sub")
    if not (subject.isascii() and subject.isprintable()):
        raise untrusted("sub")
    return subject
