"""A server for a team: several queues, people with passwords and roles, behind a proxy if there is one."""

__all__: list[str] = []
