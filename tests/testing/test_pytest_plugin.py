"""The pytest plugin is in every run of pytest where flowkit is installed: it costs nothing until it is used."""

import subprocess
import sys

import pytest

from flowkit import Flowkit


def test_traces_of_one_app_are_kept_for_one_test(traces):
    ai, other = Flowkit(), Flowkit()

    @ai.flow
    def hello() -> str:
        return "hello"

    @other.flow
    def bye() -> str:
        return "bye"

    seen = traces(ai)
    ai.run_sync(hello)
    other.run_sync(bye)

    assert [span.name for span in seen.spans] == ["hello"]


@pytest.fixture(scope="module")
def shared() -> Flowkit:
    return Flowkit()


def test_a_shared_app_is_watched(shared: Flowkit, traces):
    assert shared.runtime.tracing.sink is None
    assert traces(shared) is shared.runtime.tracing.sink


def test_and_is_left_as_it_was(shared: Flowkit):
    assert shared.runtime.tracing.sink is None


@pytest.mark.heavy
def test_the_plugin_loads_nothing():
    code = "import sys, pytest\nimport flowkit.testing.pytest_plugin\nprint(*sys.modules)"

    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )

    assert "flowkit.testing.pytest_plugin" in loaded
    assert {"pydantic", "opentelemetry", "numpy", "flowkit.app", "flowkit.testing.outline"} & loaded == set()
