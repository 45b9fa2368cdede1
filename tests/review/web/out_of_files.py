"""A server that was just started and can open no more files: what it answers, as JSON on the standard output.

Run by ``test_errors.py`` in a process of its own, whose descriptors are all held.
"""

import json
import os
import resource
import sys
from contextlib import ExitStack

from tests.review.conftest import Served
from tests.review.web.conftest import signed_in

PATHS = ("/q/claims", "/q/claims/log", "/q/claims/people", "/q/claims/figures", "/q/claims/rows",
         "/q/claims/settings", "/nowhere", "/q/claims/verdicts.csv", "/q/claims/verdicts.parquet",
         "/q/claims/verdicts.xlsx", "/api/v1/queues/claims/log", "/api/v1/queues/claims/figures",
         "/api/v1/queues/claims/verdicts.xlsx")  # fmt: skip


def main(folder):
    server = Served(folder)
    with signed_in(server, language="de") as browser:
        say_something(server)
        with no_more_files():
            answers = {path: browser.get(path) for path in PATHS}
    server.stop()
    print(json.dumps({path: [answer.status_code, answer.text[-2000:]] for path, answer in answers.items()}))


def say_something(server):
    """Else there is nothing to hand out."""
    server.queue.record("ann", server.queue.turn("ann").result().shown, "wanted").result()


def no_more_files():
    """Hold every descriptor that this process may have."""
    held = ExitStack()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (150, most))
    try:
        while True:
            held.callback(os.close, os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return held


if __name__ == "__main__":
    main(sys.argv[1])
