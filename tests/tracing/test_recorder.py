"""What runs is on disk soon, whole, and never at the cost of the run."""

import asyncio
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from opentelemetry import trace as otel

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.core.spans import Tracing
from flowkit.testing.outline import trace_outline
from flowkit.tracing import recorder as recorder_module
from flowkit.tracing import start_tracing
from flowkit.tracing.provider import RecorderProvider
from flowkit.tracing.quiet import quiet
from flowkit.tracing.recorder import Recorder, recorder_for
from flowkit.tracing.redact import Redactor
from flowkit.tracing.retention import Kept
from flowkit.tracing.rows import TraceSummary
from flowkit.tracing.store import TraceStore


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    recorder = recorder_for(tmp_path / ".flowkit" / "traces.db")
    yield recorder
    recorder.close()


@pytest.fixture
def store(recorder: Recorder) -> TraceStore:
    return recorder.store


@pytest.fixture
def ai(tmp_path: Path, recorder: Recorder) -> Flowkit:
    return Flowkit(settings=Settings(traces=True, root=tmp_path))


@pytest.fixture
def echo(ai: Flowkit):
    @ai.flow("echo")
    async def echo(text: str) -> str:
        return text

    return echo


def eventually(find: Callable[[], object]) -> object:
    """What `find` finds, within some seconds; the deadline is for broken code only."""
    until = time.monotonic() + 10
    while not (found := find()) and time.monotonic() < until:
        time.sleep(0.005)
    return found


async def test_nothing_is_touched_before_the_first_run(ai, echo, tmp_path: Path):
    assert list(tmp_path.iterdir()) == []

    await echo("hello")

    assert eventually((tmp_path / ".flowkit" / "traces.db").exists)


async def test_a_finished_run_gets_to_disk_by_itself(echo, store: TraceStore):
    await echo("hello")

    assert eventually(lambda: [item.name for item in store.list().items]) == ["echo"]


async def test_a_run_is_seen_while_it_lasts(ai, store: TraceStore):
    gate = asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    @ai.flow("slow")
    async def slow(question: str) -> str:
        await ai.run("wait", wait)
        return question

    task = asyncio.ensure_future(slow("how long?"))
    await asyncio.sleep(0)
    item = await asyncio.to_thread(eventually, lambda: (store.list(status="running").items or [None])[0])
    assert isinstance(item, TraceSummary)
    assert (item.input, item.duration_ms, item.spans) == ('"how long?"', None, 2)
    assert trace_outline(store.get(item.trace_id).spans, states=True) == "slow   flow running\n  wait step running\n"

    gate.set()
    await task

    assert eventually(lambda: store.list(status="success").items)
    assert [span.state for span in store.get(item.trace_id).spans] == ["success", "success"]
    assert store.list().items[0].spans == 2


async def test_flush_puts_everything_on_disk_at_once(echo, recorder: Recorder, store: TraceStore):
    for number in range(250):
        await echo(str(number))

    assert recorder.flush()
    assert len(store.list(limit=1000).items) == 250


async def test_a_value_of_8_mb_is_kept_whole(ai, recorder: Recorder, store: TraceStore):
    image = "data:image/png;base64," + "QUJD" * 2_100_000

    @ai.flow("look")
    async def look(image: str) -> int:
        return len(image)

    await look(image)
    recorder.flush()

    (item,) = store.list().items
    assert store.get(item.trace_id).spans[0].input == f'"{image}"'.encode()
    light = store.get(item.trace_id, values=False).spans[0]
    assert (light.input, light.input_bytes, light.output) == (None, len(image) + 2, b"8400022")
    assert store.value(item.trace_id, light.span_id, "input") == f'"{image}"'.encode()


@pytest.mark.parametrize(
    "text",
    ["こんにちは", "以上", "한국어", "naïve façade café", "😀", "\u2028", "literal \\u3053 text", "\x00 and \ud800"],
)
async def test_characters_are_stored_as_they_are(echo, recorder: Recorder, store: TraceStore, tmp_path, text: str):
    await echo(text)
    recorder.flush()

    (item,) = store.list().items
    clean = text.replace("\ud800", "�").replace("\x00", "")
    assert store.get(item.trace_id).spans[0].output.decode() in (
        f'"{clean}"',
        '"literal \\\\u3053 text"',
        '"\\u0000 and �"',
    )
    raw = b"".join(file.read_bytes() for file in (tmp_path / ".flowkit").glob("traces.db*"))
    assert clean.replace("\\", "\\\\").encode() in raw


async def test_only_the_owner_can_read_the_file(echo, recorder: Recorder, tmp_path: Path):
    await echo("secret")
    recorder.flush()

    folder = tmp_path / ".flowkit"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.glob("traces.db*")} == {0o600}


async def test_secrets_are_redacted_in_the_file_but_not_in_the_run(ai, recorder, store: TraceStore, tmp_path: Path):
    given = {"api_key": "k-123", "Authorization": "Bearer abc", "items": [{"password": "hunter2"}], "note": "token 5"}

    @ai.flow("login")
    async def login(form: dict[str, object]) -> dict[str, object]:
        otel.get_current_span().set_attribute("http.request.header.authorization", "Bearer abc")
        return form

    assert await login(given) == given
    recorder.flush()

    span = store.get(store.list().items[0].trace_id).spans[0]
    right = (
        b'{"api_key":"<redacted>","Authorization":"<redacted>","items":[{"password":"<redacted>"}],"note":"token 5"}'
    )
    assert (span.input, span.output) == (right, right)
    assert span.attributes == {"http.request.header.authorization": "<redacted>"}
    raw = b"".join(file.read_bytes() for file in (tmp_path / ".flowkit").glob("traces.db*"))
    assert not any(secret in raw for secret in (b"k-123", b"Bearer", b"hunter2"))


async def test_a_hook_that_raises_hides_the_value_and_keeps_the_span(tmp_path: Path):
    def hook(value: object) -> object:
        raise LookupError("no rule")

    tracing = start_tracing(Settings(traces=True, root=tmp_path), Redactor(hook=hook))
    ai = Flowkit(settings=Settings())
    ai.runtime.tracing = tracing

    @ai.flow("echo")
    async def echo(text: str) -> str:
        return text

    await echo("private")
    assert isinstance(tracing.sink, Recorder)
    tracing.sink.flush()

    (item,) = tracing.sink.store.list().items
    assert (item.status, item.input, item.output) == ("success", '"[REDACTED:error]"', '"[REDACTED:error]"')
    tracing.sink.close()


async def test_apps_with_other_rules_share_the_file_and_keep_their_rules(ai, echo, recorder, store, tmp_path: Path):
    strict = Flowkit(settings=Settings())
    strict.runtime.tracing = start_tracing(ai.settings, Redactor(patterns=[r"\d{3}-\d{4}"]))

    @strict.flow("strict")
    async def other(text: str) -> str:
        return text

    await echo("call 555-1234")
    await other("call 555-1234")
    recorder.flush()

    assert {item.name: item.input for item in store.list().items} == {
        "echo": '"call 555-1234"',
        "strict": '"call <redacted>"',
    }


async def test_one_recorder_per_file(ai, recorder: Recorder, tmp_path: Path):
    again = Flowkit(settings=Settings(traces=True, root=tmp_path))

    assert ai.runtime.tracing.sink is again.runtime.tracing.sink is recorder


async def test_a_closed_recorder_opens_again_when_something_runs(echo, recorder: Recorder, store: TraceStore):
    await echo("one")
    recorder.close()
    assert "flowkit-traces" not in {t.name for t in threading.enumerate() if t is recorder._writer._thread}

    await echo("two")

    assert eventually(lambda: len(store.list().items) == 2)


async def test_under_overload_values_go_first_and_ends_never(ai, echo, recorder, store, monkeypatch):
    monkeypatch.setattr(recorder_module, "_QUEUE_BYTES", 50_000)
    with recorder._writer._lock:  # the writer stands still
        for number in range(100):
            await echo(f"{number:05}" * 400)
    recorder.flush()

    assert recorder.dropped_values > 50
    assert recorder.dropped_starts > 0
    items = store.list(limit=200).items
    assert len(items) == 100
    assert {item.status for item in items} == {"success"}
    spans = [store.get(item.trace_id).spans[0] for item in items]
    assert sum(span.dropped for span in spans) == recorder.dropped_values
    assert all(span.dropped is (span.input is None) for span in spans)


@pytest.mark.parametrize("as_error", [False, True], ids=["warnings shown", "warnings are errors"])
async def test_a_file_that_cannot_be_written_costs_one_warning(echo, recorder, tmp_path, as_error: bool, capsys):
    (tmp_path / ".flowkit").write_text("not a folder")
    with warnings.catch_warnings(record=not as_error) as seen:
        warnings.simplefilter("error" if as_error else "always")
        for _ in range(3):
            assert await echo("still works") == "still works"
            assert not recorder.flush(0.1)
    if seen is not None:
        assert [str(w.message).partition(":")[0] for w in seen] == [
            "traces cannot be written, and are kept in memory for now"
        ]
    else:
        assert capsys.readouterr().err.count("traces cannot be written") == 1

    (tmp_path / ".flowkit").unlink()

    assert recorder.flush()
    assert len(recorder.store.list().items) == 3


@pytest.mark.parametrize("damage", ["no database", "torn", "newer"])
async def test_a_damaged_file_is_left_alone_and_the_app_goes_on(echo, recorder, tmp_path, damage: str):
    path = tmp_path / ".flowkit" / "traces.db"
    path.parent.mkdir()
    if damage == "no database":
        path.write_bytes(b"this is something else" * 100)
    else:
        TraceStore(path).write([])
        await echo("before")
        recorder.flush()
        recorder.close()
        if damage == "torn":
            path.write_bytes(path.read_bytes()[:5000])
        else:
            with sqlite3.connect(path) as db:
                db.execute("PRAGMA user_version = 99")
            db.close()
    before = path.read_bytes()

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            assert await echo("still works") == "still works"
            assert not recorder.flush(5)

    texts = [str(warning.message) for warning in seen]
    assert [text.startswith(f"traces are not kept: {path} ") for text in texts] == [True], texts
    assert path.read_bytes() == before
    assert recorder.lost == 3


async def test_a_file_that_is_deleted_while_the_app_runs_is_made_again(echo, recorder, store, tmp_path: Path):
    await echo("one")
    recorder.flush()
    for file in (tmp_path / ".flowkit").iterdir():
        file.unlink()

    await echo("two")
    recorder.flush()

    assert [item.input for item in store.list().items] == ['"two"']


async def test_old_traces_go_by_themselves(echo, recorder: Recorder, store: TraceStore):
    recorder_for(store.path, kept=Kept(max_traces=10))
    for number in range(30):
        await echo(str(number))
    assert eventually(lambda: len(store.list(limit=100).items) == 10)

    assert store.list(limit=100).items[0].input == '"29"'


def test_writing_traces_is_not_traced_itself(recorder: Recorder, store: TraceStore):
    """Or else an instrumented SQLite would make spans about the writing of spans, for ever."""
    tracer = RecorderProvider(recorder).get_tracer("sqlite3")

    with quiet(), tracer.start_as_current_span("INSERT"):
        pass
    with tracer.start_as_current_span("SELECT"):
        pass
    recorder.flush()

    assert [item.name for item in store.list(internal=True).items] == ["SELECT"]


async def test_one_span_that_cannot_be_stored_takes_no_other_with_it(echo, recorder: Recorder, store: TraceStore):
    tracer = RecorderProvider(recorder).get_tracer("odd")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        await echo("one")
        tracer.start_span("far future").end(2**70)
        await echo("two")
        assert recorder.flush(5)

    assert [str(w.message).partition(":")[0] for w in seen] == ["a span cannot be stored"]
    assert recorder.lost == 1
    assert sorted(str(item.input) for item in store.list().items) == ['"one"', '"two"']


async def test_calls_from_many_threads_are_all_kept(ai, echo, recorder: Recorder, store: TraceStore):
    def work() -> None:
        for number in range(20):
            ai.run_sync(echo, str(number))

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    recorder.flush()

    assert len(store.list(limit=200).items) == 100


async def test_tracing_is_off_unless_asked_for(tmp_path: Path):
    tracing = start_tracing(Settings(root=tmp_path))

    assert isinstance(tracing, Tracing)
    assert tracing.sink is None
    assert tracing.redact is not None
