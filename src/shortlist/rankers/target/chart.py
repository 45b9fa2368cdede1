"""A live line chart of an evolution: on a terminal, or in a notebook."""

from __future__ import annotations

import time
from html import escape
from typing import Any

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.text import Text

from shortlist.rankers.target.watching import Generation

_PER_SECOND = 4  # drawings
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of a braille letter, by column and row


class LiveChart:
    """Draws the best and the mean fitness while trees evolve; of several restarts, the latest one.

    >>> chart = LiveChart(console=Console(width=40, force_terminal=False))
    >>> for generation in range(20):
    ...     chart(Generation(0, 0, generation, best=0.2 + 0.01 * generation, mean=0.1, leaves=3, mean_leaves=4.0))
    >>> print(chart.text(width=30, height=3).splitlines()[0])
    restart 1, generation 19: best 0.3900 (3 leaves), mean 0.1000
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self.history: list[Generation] = []
        self._shown: Any = None
        self._next = 0.0  # when a notebook's drawing is due

    def __call__(self, told: Generation) -> None:
        """Add a generation and draw."""
        started, shown = self._run(told), self._run(self.history[-1]) if self.history else (-1, -1)
        if started < shown:  # restarts that evolve side by side take turns to tell
            return
        if started == shown:
            self.history.append(told)
        else:  # a new list, not an emptied one: another thread may be drawing
            self.history = [told]
        if in_notebook():
            self._show_in_notebook()
        elif self.console.is_terminal:
            self._show_on_terminal()

    @staticmethod
    def _run(told: Generation) -> tuple[int, int]:
        return told.estimator, told.restart

    def close(self) -> None:
        """Leave the last chart standing."""
        if isinstance(self._shown, Live):
            self._shown.stop()
        elif self._shown is not None:
            self._next = 0.0
            self._show_in_notebook()
        self._shown = None

    def _show_on_terminal(self) -> None:
        if self._shown is None:  # drawn by a thread of its own: a chart takes longer than most generations
            self._shown = Live(
                console=self.console, get_renderable=self._drawn, refresh_per_second=_PER_SECOND
            )
            self._shown.start()

    def _drawn(self) -> Text:
        return Text(self.text(width=max(min(self.console.width - 2, 76), 1), height=8))

    def _show_in_notebook(self) -> None:
        from IPython.display import SVG, display  # noqa: PLC0415

        if time.monotonic() < self._next:
            return
        if self._shown is None:
            self._shown = display(SVG(self.svg()), display_id=True)
        else:
            self._shown.update(SVG(self.svg()))
        self._next = time.monotonic() + 1 / _PER_SECOND

    def text(self, width: int, height: int) -> str:
        """The chart in braille letters, best above mean, under a line with the latest figures."""
        last = self.history[-1]
        canvas = np.zeros((height * 4, width * 2), dtype=bool)
        for values in self._series():
            columns = np.linspace(0, width * 2 - 1, values.size).round().astype(int)
            canvas[((1 - values) * (height * 4 - 1)).round().astype(int), columns] = True
        rows = [
            "".join(_letter(canvas[4 * r : 4 * r + 4, 2 * c : 2 * c + 2]) for c in range(width))
            for r in range(height)
        ]
        head = (
            f"restart {last.restart + 1}, generation {last.generation}: best {last.best:.4f} "
            f"({last.leaves} leaves), mean {last.mean:.4f}"
        )
        return "\n".join([head, *rows])

    def svg(self, width: int = 560, height: int = 180) -> str:
        """The chart as a drawing."""
        lines = []
        for values, colour in zip(self._series(), ("#c2410c", "#94a3b8"), strict=True):
            x = np.linspace(0, width, values.size) if values.size > 1 else np.zeros(1)
            points = " ".join(f"{a:.1f},{(1 - b) * height:.1f}" for a, b in zip(x, values, strict=True))
            lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>')
        head = escape(self.text(1, 1).splitlines()[0])
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-6 -26 {width + 12} {height + 32}" '
            f'width="{width + 12}" height="{height + 32}">'
            # Notebooks may have a dark page.
            f'<rect x="-6" y="-26" width="{width + 12}" height="{height + 32}" fill="#fff"/>'
            f'<text y="-8" font-family="system-ui, sans-serif" font-size="12" fill="#1a1a1a">{head}</text>'
            f"{''.join(lines)}</svg>"
        )

    def _series(self) -> list[np.ndarray]:
        """Best and mean, scaled to 0..1 together."""
        both = np.array([(p.best, p.mean) for p in self.history])
        span = np.ptp(both) or 1.0
        return list(((both - both.min()) / span).T)


def _letter(dots: np.ndarray) -> str:
    """Two by four dots as one letter."""
    code = sum(_DOTS[column][row] for row in range(4) for column in range(2) if dots[row, column])
    return chr(0x2800 + code)


def in_notebook() -> bool:
    """Whether the code runs in a notebook that can show drawings."""
    try:
        from IPython import get_ipython  # noqa: PLC0415
    except ImportError:
        return False
    return type(get_ipython()).__name__ == "ZMQInteractiveShell"
