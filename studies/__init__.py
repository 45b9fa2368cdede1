"""Studies: the papers' experiments, speed and quality beside the peers. ``python -m studies`` lists and runs them.

They are run from a checkout and are no part of the installed package; nothing in ``shortlist`` knows of them.
"""
