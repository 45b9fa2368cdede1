"""What a manager asks first: which columns matter, whether chances are what is found, and for whom it works."""

__all__: list[str] = []
