"""A notebook: flows run in a real kernel, awaited and through `run_sync`, and cells may run twice."""

import queue
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.modules import ROOT

CELL = """
from flowkit import Flowkit
ai = globals().get("ai") or Flowkit()

@ai.flow()
async def double(n: int) -> int:
    return n * 2

@ai.flow()
def quadruple(n: int) -> int:
    return ai.run_sync(double, ai.run_sync(double, n))
"""


class Notebook:
    """A kernel, and what a cell in it says."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, code: str) -> str:
        """What the cell prints and gives; an error's name if it fails."""
        asked = self._client.execute(code)
        said = ""
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=60)
            except queue.Empty:
                pytest.fail(f"the kernel says nothing to {code!r}; so far {said!r}")
            if message["parent_header"].get("msg_id") != asked:
                continue
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    said += content["text"]
                case "execute_result":
                    said += content["data"]["text/plain"]
                case "error":
                    said += f"{content['ename']}: {content['evalue']}"
                case "status" if content["execution_state"] == "idle":
                    return said


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    pytest.importorskip("ipykernel", reason="a notebook needs a kernel")
    manager = pytest.importorskip("jupyter_client.manager")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp("notebook")))
        kernel, client = manager.start_new_kernel(kernel_name="python3", cwd=str(ROOT))
    yield Notebook(client)
    client.stop_channels()
    kernel.shutdown_kernel(now=True)


@pytest.mark.heavy
def test_flows_run_in_a_notebook(notebook: Notebook):
    assert notebook.run(CELL) == ""
    assert notebook.run("await double(2)") == "4"
    assert notebook.run("ai.run_sync(double, 3)") == "6"
    assert notebook.run("await quadruple(1), ai.run_sync(quadruple, 2)") == "(4, 8)"
    assert notebook.run("ai.run_sync(double(4))") == "8"
    assert notebook.run("async with ai: print(await double(5))") == "10\n"
    assert notebook.run("[c async for c in double.stream(1)]") == "[]"


@pytest.mark.heavy
def test_a_cell_may_run_twice(notebook: Notebook):
    assert notebook.run(CELL) == ""
    assert notebook.run(CELL.replace("n * 2", "n * 20")) == ""
    assert notebook.run("ai.run_sync('/flow/double', 1)") == "20"


@pytest.mark.heavy
def test_an_error_in_a_cell_is_the_users(notebook: Notebook):
    notebook.run(CELL)
    assert notebook.run("await double('many')").startswith("InvalidInputError: bad input for flow 'double'")
