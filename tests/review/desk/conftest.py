import pytest


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def database(request):
    """All that a queue does is the same wherever its log is kept."""
    return None if request.param == "sqlite" else request.getfixturevalue("postgres")
