"""How long the parts take and how much memory, beside their peers, in one run."""
