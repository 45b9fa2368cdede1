"""The papers' experiments: each file runs one and prints its table beside ours."""
