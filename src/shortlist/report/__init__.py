"""Results as one self-contained HTML page: text, charts and tables that need no network and no other file."""

from shortlist.report.page import Chart, Line, Page, Sheet
from shortlist.report.write import render, write_page

__all__ = ["Chart", "Line", "Page", "Sheet", "render", "write_page"]
