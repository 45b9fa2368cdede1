"""Scripts of others that the pages carry: unchanged, with their licences."""

import hashlib
from importlib.resources import files

VENDOR = files("shortlist.review.web") / "static" / "vendor"


def test_vendored_files_are_what_they_were():
    lines = (VENDOR / "SHA256SUMS").read_text().splitlines()
    sums = dict(reversed(line.split()) for line in lines)
    scripts = {path.name for path in VENDOR.iterdir() if path.name.endswith((".js", ".css"))}
    assert scripts == set(sums)
    for name, expected in sums.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == expected


def test_vendored_files_have_licences():
    assert "Zero-Clause BSD" in (VENDOR / "htmx.LICENSE").read_text()
