"""What reviewers are told, of a row and of the review as a whole; all of it is true of the data it is about."""

__all__: list[str] = []
