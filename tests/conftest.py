"""What holds for all tests."""

import pytest
from hypothesis import HealthCheck, settings

# A busy machine, or one that compiles a kernel for the first time, must not fail a property.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _no_wait_for_the_disk(monkeypatch):
    """Only a power cut can tell whether a file was synced, and a busy disk takes its time."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


def pytest_collection_modifyitems(items):
    """Every test of a kernel promises bits: the plain twin is right on any CPU."""
    for item in items:
        if "kernels" in item.nodeid.partition("::")[0]:
            item.add_marker("bits")
