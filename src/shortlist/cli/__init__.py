"""The command line. Every module here whose name has no leading underscore is one command."""

__all__: list[str] = []
