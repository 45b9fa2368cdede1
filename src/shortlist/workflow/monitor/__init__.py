"""Shortlists that were really written, beside the outcomes that came back: figures by period, alarms, a page."""

__all__: list[str] = []
