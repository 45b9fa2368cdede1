"""The criteria of a team as HTML that cannot do harm."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

#: A page has its own headings of the first two levels.
LEVELS_ABOVE = 2


@lru_cache(maxsize=32)
def criteria_html(text: str) -> Markup:
    """Markdown as HTML: no HTML of its own, no images, links that open elsewhere and tell nobody where from.

    >>> print(criteria_html("**yes** if <b>late</b>"), end="")
    <p><strong>yes</strong> if &lt;b&gt;late&lt;/b&gt;</p>
    """
    return Markup(_MARKDOWN.render(text))


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    markdown.add_render_rule("link_open", _link)
    markdown.core.ruler.push("fit_the_page", _fit_the_page)
    return markdown


def _link(self: Any, tokens: Sequence[Token], i: int, options: Any, env: MutableMapping[str, Any]) -> str:
    tokens[i].attrs.update(target="_blank", rel="noopener noreferrer")
    return str(self.renderToken(tokens, i, options, env))


def _fit_the_page(state: Any) -> None:
    for token in state.tokens:
        token.attrs.pop("style", None)  # pages have no styles of their own
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + LEVELS_ABOVE)}"


_MARKDOWN = _markdown()
