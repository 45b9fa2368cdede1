"""The experiments of the papers: one file each, its figures beside ours."""
