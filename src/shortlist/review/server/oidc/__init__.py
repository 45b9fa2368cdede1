"""Signing in with an OpenID provider: what is asked of it, what its answers must show, and whose account that opens."""

__all__: list[str] = []
