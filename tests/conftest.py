"""What holds for all tests."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

# A busy machine, or one that compiles a kernel for the first time, must not fail a property. Examples are the same
# everywhere, so that what passes on one machine passes on the next; --hypothesis-profile exploring tries others.
settings.register_profile("exploring", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("patient", settings.get_profile("exploring"), derandomize=True)
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _no_wait_for_the_disk(monkeypatch):
    """Only a power cut can tell whether a file was synced, and a busy disk takes its time."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


#: Files whose tests take longest. They are begun first, so that no core waits for the last of them.
LONG = ("tests/cli/test_stream.py", "tests/cli/test_program.py", "tests/test_quality_gates.py")


def pytest_collection_modifyitems(items):
    """Tests of kernels promise bits: the plain twin is right on any CPU. Files of many tests follow the long ones."""
    for item in items:
        if "kernels" in file_of(item):
            item.add_marker("bits")
    many = Counter(map(file_of, items))
    items.sort(key=lambda item: (file_of(item) not in LONG, -many[file_of(item)], file_of(item)))


def file_of(item):
    return item.nodeid.partition("::")[0]
