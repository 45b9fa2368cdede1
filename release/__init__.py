"""What a release is made and judged by; ``python -m release`` lists it."""
