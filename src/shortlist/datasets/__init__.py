"""Seeded generators for examples and tests, and the catalogue of the papers' data sets."""

from shortlist.datasets.claims import make_claims
from shortlist.datasets.outages import make_outages
from shortlist.datasets.papers import PaperSet, load_paper_set, paper_sets

__all__ = ["PaperSet", "load_paper_set", "make_claims", "make_outages", "paper_sets"]
