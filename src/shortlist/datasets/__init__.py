"""Seeded generators for examples and tests."""

from shortlist.datasets.claims import make_claims
from shortlist.datasets.outages import make_outages

__all__ = ["make_claims", "make_outages"]
