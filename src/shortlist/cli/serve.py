"""``shortlist serve``: every queue below a folder, for a team that signs in."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape

from shortlist.cli import _options as options
from shortlist.cli._output import err, print_json
from shortlist.counts import counted

Folder = Annotated[Path, typer.Argument(help="Folder whose queues are served, at any depth.")]
PublicUrl = Annotated[
    str | None,
    typer.Option(
        "--public-url",
        metavar="URL",
        envvar="SHORTLIST_PUBLIC_URL",
        show_envvar=True,
        help="Address that browsers use, such as https://host/base, where a proxy is in front.",
    ),
]
Host = Annotated[
    str,
    typer.Option(
        "--host", metavar="ADDRESS", envvar="SHORTLIST_HOST", show_envvar=True, help="Address to listen on."
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port", min=0, max=65535, envvar="SHORTLIST_PORT", show_envvar=True, help="Port. \\[default: 8765]"
    ),
]
Proxies = Annotated[
    list[str],
    typer.Option(
        "--proxy",
        metavar="ADDRESS",
        envvar="SHORTLIST_PROXY",
        show_envvar=True,
        help="Proxy that is believed when it says where a request comes from; may be given several times.",
    ),
]

RowsFrom = Annotated[
    list[Path],
    typer.Option(
        "--rows-from",
        metavar="FOLDER",
        envvar="SHORTLIST_ROWS_FROM",
        show_envvar=True,
        help="Folder of this machine whose files leads may make queues from; may be given several times.",
    ),
]
UserHeader = Annotated[
    str | None,
    typer.Option(
        "--user-header",
        metavar="NAME",
        envvar="SHORTLIST_USER_HEADER",
        show_envvar=True,
        help="Header in which an authenticating --proxy names who is asking, such as X-Forwarded-User.",
    ),
]
Webhooks = Annotated[
    list[str],
    typer.Option(
        "--webhook",
        metavar="URL",
        envvar="SHORTLIST_WEBHOOK",
        show_envvar=True,
        help="Address that is told of every verdict, signed with SHORTLIST_WEBHOOK_SECRET; may be given several times.",
    ),
]
OidcIssuer = Annotated[
    str | None,
    typer.Option(
        "--oidc-issuer",
        metavar="URL",
        envvar="SHORTLIST_OIDC_ISSUER",
        show_envvar=True,
        help="OpenID provider that people may sign in with, as it calls itself; its secret is "
        "SHORTLIST_OIDC_CLIENT_SECRET.",
    ),
]
OidcClientId = Annotated[
    str | None,
    typer.Option(
        "--oidc-client-id",
        metavar="ID",
        envvar="SHORTLIST_OIDC_CLIENT_ID",
        show_envvar=True,
        help="What the provider calls this server.",
    ),
]
OidcName = Annotated[
    str | None,
    typer.Option(
        "--oidc-name",
        metavar="NAME",
        envvar="SHORTLIST_OIDC_NAME",
        show_envvar=True,
        help="What pages call the provider. \\[default: its host]",
    ),
]
OidcNewRole = Annotated[
    Literal["viewer", "reviewer", "lead"] | None,
    typer.Option(
        "--oidc-new-role",
        envvar="SHORTLIST_OIDC_NEW_ROLE",
        show_envvar=True,
        help="Role of whoever signs in with the provider for the first time. \\[default: only who was invited]",
    ),
]


def command(
    folder: Folder,
    db: options.Db = None,
    public_url: PublicUrl = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    proxy: Proxies = [],  # noqa: B006
    webhook: Webhooks = [],  # noqa: B006
    rows_from: RowsFrom = [],  # noqa: B006
    user_header: UserHeader = None,
    oidc_issuer: OidcIssuer = None,
    oidc_client_id: OidcClientId = None,
    oidc_name: OidcName = None,
    oidc_new_role: OidcNewRole = None,
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="Tell each request as a line of JSON.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Serve all queues of a folder to a team: people sign in, and each does what their role allows.

    At the first start an address is printed at which the first admin makes an account.

    Example: [bold]shortlist serve reviews --public-url https://reviews.example --proxy 127.0.0.1[/]
    """
    from shortlist.review.server.app import serve_team
    from shortlist.review.server.oidc.settings import OidcSettings

    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    logging.getLogger("shortlist.requests").setLevel(logging.INFO if log_requests else logging.WARNING)
    serve_team(
        folder, database=db, public_url=public_url, host=host, port=port, proxies=proxy,
        webhooks=webhook,
        sources=rows_from,
        user_header=user_header,
        oidc=OidcSettings.of_environment(oidc_issuer, oidc_client_id, oidc_name, oidc_new_role),
        ready=lambda server: _tell(server, json),
    )  # fmt: skip


def _tell(server: Any, json: bool) -> None:
    first = server.first_address()
    if json:
        print_json({"url": server.site.url, "queues": [*server.queues], "first": first})
        sys.stdout.flush()  # whoever started us waits for the address
        return
    err.print(
        f"Serving {counted(len(server.queues), 'queue')} at [bold]{escape(server.site.url)}[/]; stop with Ctrl-C."
    )
    if first:
        err.print(
            f"Nobody is an admin yet: make the first account at [bold]{escape(first)}[/] (it works once).",
            soft_wrap=True,
        )
