"""What is kept elsewhere: a backup of a running server, and a server made from one."""

__all__: list[str] = []
