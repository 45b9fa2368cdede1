"""``python -m shortlist``: the same as the command ``shortlist``."""

from shortlist.cli._app import main

main()
