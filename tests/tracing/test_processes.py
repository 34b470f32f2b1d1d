"""The trace file of a project, written by every process of it, however they begin and end."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from flowkit.tracing.store import TraceStore

pytestmark = [pytest.mark.heavy]

HEAD = """
import asyncio, os, sys, time
from flowkit import Flowkit
ai = Flowkit()

@ai.flow("echo")
async def echo(text: str) -> str:
    return text
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts a program of the project whose traces are kept."""

    def start(program: str, *arguments: str, **settings: str) -> "subprocess.Popen[str]":
        env = {**os.environ, "FLOWKIT_TRACES": "1", "FLOWKIT_ROOT": str(tmp_path), **settings}
        command = [sys.executable, "-c", HEAD + textwrap.dedent(program), *arguments]
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


@pytest.fixture
def store(tmp_path: Path) -> TraceStore:
    return TraceStore(tmp_path / ".flowkit" / "traces.db")


def finish(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return out


def inputs(store: TraceStore) -> list[str]:
    return sorted(str(item.input) for item in store.list(limit=1000).items)


def test_a_script_that_ends_at_once_loses_nothing(start: Start, store: TraceStore):
    finish(start("print(ai.run_sync(echo, 'short'))"))

    (item,) = store.list().items
    assert (item.status, item.input) == ("success", '"short"')


def test_a_script_that_dies_of_an_exception_loses_nothing(start: Start, store: TraceStore):
    process = start(
        """
        @ai.flow()
        async def broken() -> None: raise ValueError("no soup")
        asyncio.run(broken())
        """
    )
    process.communicate(timeout=60)

    assert process.returncode == 1
    (item,) = store.list().items
    assert (item.status, item.error) == ("error", "ValueError: no soup")


def test_what_runs_at_exit_is_kept_too(start: Start, store: TraceStore):
    finish(
        start(
            """
            import atexit
            atexit.register(lambda: asyncio.run(echo("late")))
            asyncio.run(echo("early"))
            """
        )
    )

    assert inputs(store) == ['"early"', '"late"']


def test_without_being_asked_nothing_is_written(start: Start, tmp_path: Path):
    finish(start("asyncio.run(echo('private'))", FLOWKIT_TRACES=""))

    assert list(tmp_path.iterdir()) == []


def test_sigkill_costs_at_most_the_last_moment(start: Start, store: TraceStore):
    process = start(
        """
        @ai.flow("endless")
        async def endless() -> None:
            for number in range(10): await echo(f"kept {number}")
            time.sleep(0.2)
            print("now", flush=True)
            while True: await echo("perhaps")
        asyncio.run(endless())
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()

    (item,) = store.list().items
    trace = store.get(item.trace_id)
    assert [span.input for span in trace.spans[1:11]] == [f'"kept {number}"'.encode() for number in range(10)]
    assert item.status == "lost"
    assert store.list(status="running").items == []
    assert len(store.list(status="lost").items) == 1


def test_a_forked_child_writes_its_own_spans_once(start: Start, store: TraceStore):
    finish(
        start(
            """
            asyncio.run(echo("before"))
            child = os.fork()
            asyncio.run(echo("child" if child == 0 else "parent"))
            if child:
                assert os.waitpid(child, 0)[1] == 0
            """
        )
    )

    assert inputs(store) == ['"before"', '"child"', '"parent"']


def test_forking_in_the_middle_of_writing(start: Start, store: TraceStore):
    out = finish(
        start(
            """
            import threading
            def work():
                for number in range(200): ai.run_sync(echo, "parent")
            thread = threading.Thread(target=work)
            thread.start()
            children = []
            for number in range(5):
                child = os.fork()
                if child == 0:
                    asyncio.run(echo("child"))
                    sys.exit()
                children.append(child)
            thread.join()
            print([os.waitpid(child, 0)[1] for child in children])
            """
        )
    )

    assert out == "[0, 0, 0, 0, 0]\n"
    assert inputs(store) == ['"child"'] * 5 + ['"parent"'] * 200


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_multiprocessing_lose_nothing(start: Start, store: TraceStore, tmp_path: Path, method: str):
    (tmp_path / "worker.py").write_text(HEAD + "def work(text):\n    asyncio.run(echo(text))\n", encoding="utf-8")
    program = f"""
    if __name__ == "__main__":
        import multiprocessing
        sys.path.insert(0, {str(tmp_path)!r})
        import worker
        context = multiprocessing.get_context({method!r})
        workers = [context.Process(target=worker.work, args=(text,)) for text in ("one", "two")]
        for process in workers: process.start()
        for process in workers: process.join()
        print([process.exitcode for process in workers])
    """

    out = finish(start(program, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])))

    assert out == "[0, 0]\n"
    assert inputs(store) == ['"one"', '"two"']


def test_several_processes_write_one_file_at_once(start: Start, store: TraceStore):
    program = """
    async def main():
        for number in range(100):
            await echo(sys.argv[1])
            await asyncio.sleep(0.002)
    asyncio.run(main())
    """
    processes = [start(program, name) for name in ("a", "b", "c")]
    for process in processes:
        finish(process)

    assert inputs(store) == ['"a"'] * 100 + ['"b"'] * 100 + ['"c"'] * 100
    assert store.list(text="a", limit=1000).items[0].name == "echo"


def test_a_full_disk_costs_one_warning(start: Start, tmp_path: Path):
    process = start(
        """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
        from flowkit.tracing.recorder import flush_all
        async def main():
            for number in range(30):
                await echo("x" * 50_000)
                flush_all(0.01)
            print("the app goes on", flush=True)
        asyncio.run(main())
        os._exit(0)
        """
    )
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (0, "the app goes on\n")
    assert err.startswith("flowkit:0: RuntimeWarning: traces cannot be written, and are kept in memory for now: ")
    assert err.count("\n") == 1
    assert TraceStore(tmp_path / ".flowkit" / "traces.db").list().items
