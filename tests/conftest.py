"""What holds for all tests."""

import gc
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from studies.postgres import INITDB, own_schema, running_postgres
from tests.browser import CHROMIUM, FLAGS

# A busy machine, or one that compiles a kernel for the first time, must not fail a property. Examples are the same
# everywhere, so that what passes on one machine passes on the next; --hypothesis-profile exploring tries others.
settings.register_profile("exploring", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("patient", settings.get_profile("exploring"), derandomize=True)
settings.load_profile("patient")


@pytest.fixture(autouse=True, scope="session")
def _a_memory_of_its_own(tmp_path_factory):
    """Which model files are known is remembered for the tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _no_wait_for_the_disk(monkeypatch):
    """Only a power cut can tell whether a file was synced, and a busy disk takes its time."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


@pytest.fixture(scope="module")
def chromium():
    """A browser for the tests of a file. While it is open, no other event loop can run in this thread."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server; tests that need one are skipped where it is not installed."""
    pytest.importorskip("psycopg")
    if INITDB is None:
        pytest.skip("PostgreSQL is not installed")
    with running_postgres(fsync=False) as server:
        yield server


@pytest.fixture
def postgres(postgres_server):
    """The URL of an empty database."""
    with own_schema(postgres_server.url) as url:
        yield url


#: Files in which one test takes a minute or more. They are begun first, so that no core waits for the last of them.
LONG = (
    "tests/test_release.py",
    "tests/rankers/cluster/test_on_spark.py",
)


def pytest_collection_modifyitems(items):
    """Tests of kernels promise bits: the plain twin is right on any CPU. Files of many tests follow the long ones."""
    for item in items:
        if "kernels" in file_of(item):
            item.add_marker("bits")
    many = Counter(map(file_of, items))
    items.sort(key=lambda item: (file_of(item) not in LONG, -many[file_of(item)], file_of(item)))


def pytest_collection_finish():
    """All that was loaded stays: to look through it for garbage again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()


def file_of(item):
    return item.nodeid.partition("::")[0]
