"""A full disk costs what could not be written, and nothing else: it is told in a line, and what was there stays."""

import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from flowkit.errors import StoreError
from flowkit.rag.embedding_cache import EmbeddingCache, VectorSpace
from flowkit.tracing.recorder import recorder_for
from flowkit.tracing.rows import SpanRow
from flowkit.tracing.store import TraceStore
from tests.faults.conftest import Menu, Mount, fill, one_error

pytestmark = pytest.mark.heavy

NO_TRACES = {"FLOWKIT_TRACES": "0"}


def test_a_run_whose_trace_cannot_be_kept_is_fine_and_says_so_at_once(menu: Menu, small_disk: Mount):
    data = small_disk(menu.folder / ".flowkit", 400)
    assert menu.run("flow:run", "say", '"before"').code == 0
    ballast = fill(data)

    run = menu.process("flow:run", "say", '"hello"')

    assert (run.code, run.out) == (0, "hello\n")
    warning, trace = run.err.splitlines()
    assert warning.startswith("Warning: traces cannot be written")
    assert f"no space left for {data / 'traces.db'} (free some space)" in warning
    assert trace.endswith(" (not kept)")

    ballast.unlink()
    assert menu.run("flow:run", "say", '"after"').code == 0
    assert [item.input for item in TraceStore(data / "traces.db").list().items] == ['"after"', '"before"']


def test_indexing_on_a_full_disk_fails_in_a_line_and_the_next_run_goes_on(menu: Menu, small_disk: Mount):
    data = small_disk(menu.folder / ".flowkit", 1500)
    menu.lines(1000, chars=1000)

    error, hint = one_error(menu.process("flow:run", "indexMenu", '"menu.txt"', env=NO_TRACES))
    assert error.startswith(f"no space left for index files in {data / 'indexes' / 'menu'}")
    assert hint == "free some space and run it again"
    there = menu.indexed()
    assert 0 < len(there) < 1000
    found = menu.run("flow:run", "menuQA", '"dish00003 soup"')
    assert (found.code, found.out.count("dish")) == (0, 3)

    small_disk(data, 60_000)
    before = menu.indexed()
    menu.forget_embedded()
    run = menu.run("flow:run", "indexMenu", '"menu.txt"')
    assert (run.code, run.out) == (0, f"{1000 - len(before)}\n")
    assert menu.indexed() == list(range(1000))
    assert len(menu.embedded()) == 1000 - len(before)


def test_a_cache_that_cannot_grow_costs_a_warning_and_serves_what_it_has(menu: Menu, small_disk: Mount):
    cache = menu.folder / ".flowkit" / "cache"
    cache.parent.mkdir(mode=0o700)
    small_disk(cache, 500)
    menu.lines(100)
    menu.lines(1500, name="more.txt")
    assert menu.process("flow:run", "indexMenu", '"menu.txt"', env=menu.cached).code == 0

    run = menu.process("flow:run", "indexMenu", '"more.txt"', env=menu.cached)
    assert (run.code, run.out) == (0, "1500\n")
    warning, _ = run.err.splitlines()
    assert warning.startswith(f"Warning: embeddings are not cached in {cache / 'embeddings.db'}: ")
    assert len(menu.indexed()) == 1600

    menu.forget_embedded()
    menu.process("flow:run", "indexMenu", menu.lines(50, name="again.txt"), env=menu.cached)
    assert menu.embedded() == []


def test_everything_on_one_full_disk(menu: Menu, small_disk: Mount):
    """Not even the folders can be made."""
    data = small_disk(menu.folder / ".flowkit", 200)
    ballast = fill(data)
    menu.lines(30)

    run = menu.process("flow:run", "indexMenu", '"menu.txt"', env=menu.cached)
    assert (run.code, run.out) == (1, "")
    kinds = [line.split(":")[0] for line in run.err.splitlines()]
    assert kinds == ["Warning", "Warning", "Error", "Hint", "Trace ID"]
    assert "no runs yet" in menu.run("trace:list").err
    assert "no indexes yet" in menu.run("store:list").err
    checked = menu.run("doctor")
    assert checked.code == 1
    assert "make room" in checked.out

    ballast.unlink()
    small_disk(data, 20_000)
    run = menu.process("flow:run", "indexMenu", '"menu.txt"', env=menu.cached)
    assert (run.code, run.out, len(run.err.splitlines())) == (0, "30\n", 1)


def test_traces_of_a_process_that_goes_on_are_kept_once_there_is_space_again(tmp_path: Path, small_disk: Mount):
    disk = small_disk(tmp_path / ".flowkit", 300)
    recorder = recorder_for(disk / "traces.db")
    recorder.add([_span(0)])
    assert recorder.flush()
    ballast = fill(disk)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        recorder.add(_span(number) for number in range(1, 300))
        assert not recorder.flush(60)
    assert ["no space left" in str(warning.message) for warning in seen] == [True]
    assert recorder.lost == 0

    ballast.unlink()
    small_disk(disk, 5000)
    assert recorder.flush()
    assert len(recorder.store.list(limit=1000, internal=True).items) == 300
    recorder.close()


def test_a_trace_store_stays_usable_after_a_transaction_that_did_not_fit(tmp_path: Path, small_disk: Mount):
    """Neither this connection nor the next process is left with an open transaction."""
    disk = small_disk(tmp_path / "disk", 2000)
    store, other = TraceStore(disk / "traces.db"), TraceStore(disk / "traces.db")
    store.write([_span(0)])
    sizes = random.Random(3)
    for number in range(1, 30):
        ballast = fill(disk, leave_kb=sizes.randrange(0, 200, 4))
        with pytest.raises(StoreError, match="no space left") as caught:
            store.write([_span(number, value=b'"' + b"x" * 1_900_000 + b'"')])
        assert (caught.value.status, caught.value.hint) == ("RESOURCE_EXHAUSTED", "free some space")
        ballast.unlink()
        other.write([_span(1000 + number)])
        store.write([_span(2000 + number)])
    assert len(store.list(limit=100, internal=True).items) == 59


@pytest.mark.filterwarnings("ignore:embeddings are not cached:RuntimeWarning")
async def test_a_cache_stays_usable_after_a_write_that_did_not_fit(tmp_path: Path, small_disk: Mount):
    disk = small_disk(tmp_path / "disk", 4000)
    space = VectorSpace("numbers", dimensions=1000)
    one, other = EmbeddingCache(disk / "embeddings.db"), EmbeddingCache(disk / "embeddings.db")
    await one.put_many(space, ["zero"], [[0.5] * 1000])
    sizes = random.Random(4)
    for number in range(1, 10):
        ballast = fill(disk, leave_kb=sizes.randrange(0, 200, 4))
        await one.put_many(space, [f"{number} {at}" for at in range(1200)], [[1.0] * 1000] * 1200)
        assert (await one.get_many(space, ["zero", f"{number} 1"]))[1] is None
        ballast.unlink()
        await other.put_many(space, [f"other {number}"], [[1.0] * 1000])
        await one.put_many(space, [f"one {number}"], [[2.0] * 1000])
    found = await other.get_many(space, ["zero", *(f"{who} {n}" for who in ("one", "other") for n in range(1, 10))])
    assert None not in [None if vector is None else vector[0] for vector in found]
    await one.aclose()
    await other.aclose()


async def test_what_a_cache_holds_is_found_when_its_use_cannot_be_noted(
    tmp_path: Path, small_disk: Mount, monkeypatch: pytest.MonkeyPatch
):
    disk = small_disk(tmp_path / "disk", 1000)
    space = VectorSpace("numbers", dimensions=100)
    cache = EmbeddingCache(disk / "embeddings.db")
    texts = [f"text {number}" for number in range(500)]
    await cache.put_many(space, texts, [[float(number)] * 100 for number in range(500)])
    fill(disk)
    monkeypatch.setattr("flowkit.rag.embedding_file._today", lambda: 99_999)

    found = await cache.get_many(space, texts)

    assert [None if vector is None else vector[0] for vector in found] == list(range(500))
    await cache.aclose()


def test_a_result_that_cannot_be_written_to_stdout_is_told(menu: Menu):
    if not Path("/dev/full").exists():
        pytest.skip("stdout on a full disk is played with /dev/full")
    command = f'"{sys.executable}" -m flowkit flow:run say \'"text"\' > /dev/full'
    run = subprocess.run(["sh", "-c", command], cwd=menu.folder, capture_output=True, text=True)

    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert "Error: No space left on device" in run.stderr


def _span(number: int, *, value: bytes | None = None) -> SpanRow:
    return SpanRow(
        f"{number:032x}", f"{number:016x}", "soup", 1000 + number, 2000 + number, local_root=True, input=value
    )
