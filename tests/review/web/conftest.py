"""Somebody who uses a browser."""

import os
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

#: Where screenshots go when they are wanted: SHORTLIST_SCREENSHOTS=docs/images pytest tests/review/test_pages.py
SHOTS = os.environ.get("SHORTLIST_SCREENSHOTS")


@contextmanager
def signed_in(server, who="ann", language="en"):
    """A browser without a screen, in which somebody has signed in."""
    headers = {"accept-language": language}
    options = {"follow_redirects": True, "trust_env": False, "timeout": 60}
    with httpx.Client(base_url=server.url, headers=headers, **options) as http:
        http.get(server.login())
        http.headers["x-csrf-token"] = csrf_of(http, server)
        http.post("/name", data={"who": who})
        http.headers["x-csrf-token"] = csrf_of(http, server)
        yield http


def csrf_of(http, server):
    return server.keys.csrf(server.keys.session(http.cookies[server.keys.cookie_name]))


class Reviewer:
    """Somebody at a keyboard."""

    def __init__(self, chromium, server, who, truth, strays, complaints):
        context = chromium.new_context(viewport={"width": 1280, "height": 860}, color_scheme="light")
        context.route("**/*", lambda route: self._let_through(route, strays))
        self.page = context.new_page()
        self.page.set_default_timeout(120_000)
        self.page.on(
            "console", lambda said: said.type in ("error", "warning") and complaints.append(said.text)
        )
        self.page.on("pageerror", lambda error: complaints.append(str(error)))
        self.truth, self.server = truth, server
        self.page.goto(server.login())
        self.page.keyboard.type(who)  # the field has the focus
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("#row-title")
        self.page.wait_for_load_state("load")  # the script that listens for keys comes with the page

    @staticmethod
    def _let_through(route, strays):
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            strays.append(route.request.url)
            route.abort()

    @property
    def row(self):
        return self.page.inner_text("#row-title")

    def press(self, key):
        """Press a key and wait for the page that it brings."""
        self.page.wait_for_load_state("load")
        self.page.evaluate("document.getElementById('main').dataset.old = 'yes'")
        self.page.keyboard.press(key)
        self.page.wait_for_selector("#main:not([data-old])")
        self.page.wait_for_load_state("load")  # with its style, where it is a page of its own

    def judge(self, n=1):
        rows = []
        for _ in range(n):
            rows.append(self.row)
            self.press("y" if self.truth[self.row] else "n")
        return rows

    def shoot(self, name):
        if SHOTS:
            self.page.wait_for_timeout(300)
            self.page.screenshot(path=f"{SHOTS}/{name}.png")


@pytest.fixture
def reviewer(chromium, truth):
    """Open the page as somebody; at the end no page has asked another machine for anything or complained."""
    strays, complaints, people = [], [], []

    def open_page(server, who="ann"):
        people.append(Reviewer(chromium, server, who, truth, strays, complaints))
        return people[-1]

    open_page.complaints = complaints
    yield open_page
    for person in people:
        person.page.context.close()
    assert strays == []
    assert complaints == []
