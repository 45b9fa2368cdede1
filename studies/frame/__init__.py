"""The frame of the papers' studies: cells that are computed once, tables, figures, claims, and the command for them."""
