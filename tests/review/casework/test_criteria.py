"""Criteria are HTML that can do no harm, whatever was written."""

import re

from hypothesis import given
from hypothesis import strategies as st

from shortlist.review.casework.criteria import criteria_html

EVIL = [
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "![x](https://elsewhere.example/pixel.png)",
    "<img src=x onerror=alert(1)>",
    "<https://ok.example>",
    '[x](https://ok.example "\\" onmouseover=\\"alert(1)")',
    "| a | b |\n|:--|--:|\n| <b>x</b> | y |",
]
ALLOWED = {
    *("p", "strong", "em", "ul", "ol", "li", "a", "code", "pre", "blockquote", "hr", "br"),
    *("table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "h5", "h6"),
}


def harmless(page):
    for tag, attributes in re.findall(r"<([a-z0-9]+)((?:\"[^\"]*\"|[^>\"])*)>", page):
        assert tag in ALLOWED
        names = re.findall(r"([\w-]+)=", re.sub(r"\"[^\"]*\"", '""', attributes))
        assert {*names} <= {"href", "title", "target", "rel", "start", "class"}
        for href in re.findall(r"href=\"([^\"]*)\"", attributes):
            assert not re.match(r"\s*(javascript|data|vbscript|file):", href, re.IGNORECASE)
    return True


@given(parts=st.lists(st.one_of(st.sampled_from(EVIL), st.text(max_size=30)), max_size=6))
def test_nothing_runs(parts):
    assert harmless(criteria_html("\n\n".join(parts)))


def test_what_is_written_is_read():
    page = criteria_html("# When\n\n- **late**\n- see [guide](https://wiki.example/x)")
    assert "<h3>When</h3>" in page
    assert '<a href="https://wiki.example/x" target="_blank" rel="noopener noreferrer">guide</a>' in page
