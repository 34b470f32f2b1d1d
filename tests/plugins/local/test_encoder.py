"""Texts to vectors: order, batches, windows over the limit, processes, threads, loops."""

import asyncio
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from flowkit.errors import BackendError, ConfigError, InvalidInputError, StoreError
from flowkit_local import Encoder, OnnxEmbedder
from flowkit_local.weights import MINILM_SHA256, TOKENIZER_SHA256, minilm_files
from tests.plugins.local.tiny_model import write_model

WORDS = "the river carried silt past seventeen villages before anybody noticed how unreliable those measurements were"
MIXED = [WORDS[:cut] for cut in (3, 30, 9, 100, 70, 50, 21, 104)] + [f"{WORDS} {WORDS} {WORDS}", "salt"]


async def test_vectors_have_length_one_and_stand_in_the_order_of_the_texts(minilm: Encoder):
    together = await minilm.encode(MIXED)
    backwards = await minilm.encode(MIXED[::-1])

    assert together.vectors.shape == (10, 384)
    assert together.vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(together.vectors, axis=1), 1, atol=1e-6)
    assert (cosines(together.vectors, backwards.vectors[::-1]) > 0.99999).all()


async def test_meaning_counts(minilm: Encoder):
    texts = ["How do I cancel my subscription?", "Steps to end a subscription", "Whales sing at night"]
    cancel, ending, whales = (await minilm.encode(texts)).vectors

    assert cancel @ ending > 0.5
    assert cancel @ whales < 0.2


async def test_a_vector_does_not_depend_on_the_other_texts(minilm: Encoder):
    together = (await minilm.encode(MIXED)).vectors
    alone = np.concatenate([(await minilm.encode([text])).vectors for text in MIXED])

    assert (cosines(together, alone) > 0.99999).all()


async def test_no_texts_are_no_work():
    def locate() -> tuple[Path, Path]:
        raise AssertionError("nothing needs to be read")

    encoded = await Encoder(locate).encode([])

    assert (len(encoded.vectors), encoded.tokens, encoded.windowed) == (0, 0, 0)


@pytest.mark.parametrize("text", ["", " ", "\n\t  \n"])
async def test_a_blank_text_is_refused_by_its_place(minilm: Encoder, text: str):
    with pytest.raises(InvalidInputError, match="text 1 is blank"):
        await minilm.encode(["soup", text])


async def test_one_text_is_no_list_of_texts(minilm: Encoder):
    with pytest.raises(InvalidInputError, match="list of texts"):
        await minilm.encode("soup")


async def test_tokens_are_counted_without_the_marks(minilm: Encoder):
    encoded = await minilm.encode(["tomato soup", "salad"])

    assert encoded.tokens == 3
    assert encoded.tokens == sum(map(minilm.tokenizer.count, ["tomato soup", "salad"]))


async def test_a_mark_spelt_out_in_a_text_is_text(minilm: Encoder):
    assert minilm.tokenizer.count("[SEP]") == 3
    assert (await minilm.encode(["[SEP]"])).tokens == 3


@pytest.mark.parametrize(("words", "windowed"), [(250, 0), (254, 0), (255, 1), (300, 1), (2_000, 1)])
async def test_texts_over_the_limit_are_counted(minilm: Encoder, words: int, windowed: int):
    encoded = await minilm.encode([" ".join(["soup"] * words), "tea"])

    assert encoded.tokens == words + 1
    assert encoded.windowed == windowed


async def test_a_text_over_the_limit_is_the_mean_of_its_windows_by_tokens(tiny: Path):
    encoder = OnnxEmbedder(tiny, max_tokens=8, normalize=False).encoder()

    (long, *windows) = (await encoder.encode(["a a a a a a b", "a a a a a a", "b"])).vectors

    assert np.allclose(long, (6 * windows[0] + windows[1]) / 7)


async def test_the_end_of_a_long_text_counts(minilm: Encoder):
    beginning = "Our opening hours are from nine to five on weekdays. " * 40
    encoded = await minilm.encode([beginning, beginning + "Penguins breed in Antarctica. " * 60, "penguins"])

    plain, with_penguins, penguins = encoded.vectors
    assert encoded.windowed == 2
    assert with_penguins @ penguins > plain @ penguins + 0.2


async def test_windows_do_not_cut_words(minilm: Encoder):
    """Word 200 begins before the limit and ends behind it, so it goes to the second window whole."""
    first, long_word = " ".join(["soup"] * 252), "electroencephalographically"
    assert minilm.tokenizer.count(long_word) > 2

    whole, left, right = (await minilm.encode([f"{first} {long_word}", first, long_word])).vectors

    weights = 252, minilm.tokenizer.count(long_word)
    raw = Encoder(minilm.locate, max_tokens=256, normalize=False)
    left, right = (await raw.encode([first, long_word])).vectors
    expected = (weights[0] * left + weights[1] * right) / sum(weights)
    assert whole @ (expected / np.linalg.norm(expected)) > 0.99999


async def test_pooling_and_prefixes_are_used(tmp_path: Path):
    folder = write_model(tmp_path / "with mark", cls=(0, 7, 0))
    mean = OnnxEmbedder(folder, query_prefix="query: ", normalize=False).encoder()
    cls = OnnxEmbedder(folder, pooling="cls", normalize=False).encoder()

    assert (await mean.encode(["a"])).vectors.tolist() == [pytest.approx([1 / 3, 7 / 3, 0])]
    assert (await mean.encode(["a"], task="query")).vectors.tolist() == [pytest.approx([1 / 5, 7 / 5, 9 / 5])]
    assert (await cls.encode(["a"])).vectors.tolist() == [[0, 7, 0]]


async def test_each_window_begins_with_the_prefix(tiny: Path):
    encoder = OnnxEmbedder(tiny, query_prefix="query: ", max_tokens=8, normalize=False).encoder()
    plain = OnnxEmbedder(tiny, max_tokens=8, normalize=False).encoder()

    (long,) = (await encoder.encode(["a a a a b"], task="query")).vectors
    windows = (await plain.encode(["query: a a a a", "query: b"])).vectors

    assert np.allclose(long, (6 * windows[0] + 1 * windows[1]) / 7)


async def test_a_prefix_that_leaves_no_room_is_refused(tiny: Path):
    encoder = OnnxEmbedder(tiny, query_prefix="query : query : query : a", max_tokens=8).encoder()

    with pytest.raises(ConfigError, match="no room"):
        await encoder.encode(["a"], task="query")


async def test_an_exported_folder_gives_the_same_vectors(minilm: Encoder, minilm_folder: Path):
    exported = OnnxEmbedder(minilm_folder, pooling="mean", max_tokens=256).encoder()

    assert np.array_equal((await exported.encode(MIXED)).vectors, (await minilm.encode(MIXED)).vectors)
    assert await exported.dimension() == 384


async def test_tasks_threads_and_loops_may_use_one_encoder(minilm: Encoder):
    expected = (await minilm.encode(MIXED)).vectors
    found: list[np.ndarray] = []

    def elsewhere() -> None:
        found.append(asyncio.run(minilm.encode(MIXED)).vectors)

    threads = [threading.Thread(target=elsewhere) for _ in range(3)]
    for thread in threads:
        thread.start()
    found += [encoded.vectors for encoded in await asyncio.gather(*[minilm.encode(MIXED) for _ in range(3)])]
    await asyncio.to_thread(lambda: [thread.join() for thread in threads])

    assert len(found) == 6
    assert all((cosines(vectors, expected) > 0.99999).all() for vectors in found)


async def test_after_a_cancelled_call_the_next_one_works(minilm: Encoder):
    long = asyncio.ensure_future(minilm.encode([WORDS * 5] * 200))
    await asyncio.sleep(0.05)
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long

    assert (await minilm.encode(["soup"])).tokens == 1


async def test_a_closed_encoder_begins_anew(tiny: Path):
    encoder = OnnxEmbedder(tiny).encoder()
    before = (await encoder.encode(["a b"])).vectors
    await encoder.aclose()
    await encoder.aclose()

    assert np.array_equal((await encoder.encode(["a b"])).vectors, before)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
async def test_a_forked_child_can_embed(minilm: Encoder):
    expected = (await minilm.encode(["soup"])).vectors
    here, there = multiprocessing.get_context("fork").Pipe()
    child = multiprocessing.get_context("fork").Process(target=embed_and_send, args=(minilm, there))
    child.start()

    assert here.poll(60)
    assert np.array_equal(here.recv(), expected)
    child.join(60)
    assert child.exitcode == 0


async def test_an_encoder_goes_to_other_processes_by_what_it_is_made_of(minilm: Encoder, tiny: Path):
    await minilm.encode(["soup"])
    for encoder in (minilm, OnnxEmbedder(tiny, query_prefix="query: ").encoder()):
        copy = pickle.loads(pickle.dumps(encoder))

        assert np.array_equal((await copy.encode(["a"])).vectors, (await encoder.encode(["a"])).vectors)


def embed_and_send(encoder: Encoder, out: "multiprocessing.connection.Connection") -> None:
    out.send(asyncio.run(encoder.encode(["soup"])).vectors)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_terminal_stays_quiet_when_a_process_starts_another():
    program = """
import asyncio, os, subprocess, sys
from flowkit_local.embedder import minilm_encoder
encoder = minilm_encoder()
asyncio.run(encoder.encode(["soup", "salad", "tea"]))
encoder.tokenizer.offsets("tomato soup")
subprocess.run([sys.executable, "-c", ""], check=True)
if pid := os.fork():
    os.waitpid(pid, 0)
else:
    encoder.tokenizer.count("in the child")
    os._exit(0)
print("TOKENIZERS_PARALLELISM" in os.environ)
"""
    env = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    run = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program],
        env={**env, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.stdout, run.stderr) == ("False\n", "")


async def test_a_damaged_model_is_named(tmp_path: Path):
    model, tokenizer = minilm_files()
    broken = tmp_path / "model.onnx"
    broken.write_bytes(model.read_bytes()[:1_000_000])
    encoder = Encoder(lambda: (broken, tokenizer), max_tokens=256, hashes=(MINILM_SHA256, TOKENIZER_SHA256))

    with pytest.raises(StoreError, match="damaged or another version"):
        await encoder.encode(["soup"])


async def test_what_is_missing_from_an_exported_folder_is_named(tmp_path: Path, tiny: Path):
    with pytest.raises(ConfigError, match="there is no folder"):
        await OnnxEmbedder(tmp_path / "nowhere").encoder().encode(["a"])
    (tiny / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"has no tokenizer\.json"):
        await OnnxEmbedder(tiny).encoder().encode(["a"])
    (tiny / "model.onnx").unlink()
    with pytest.raises(ConfigError, match=r"no model\.onnx and no tokenizer\.json"):
        await OnnxEmbedder(tiny).encoder().encode(["a"])


async def test_files_that_hold_something_else_are_named(tiny: Path):
    model, tokenizer = (tiny / "model.onnx").read_bytes(), tiny / "tokenizer.json"
    (tiny / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ConfigError, match="cannot load the model"):
        await OnnxEmbedder(tiny).encoder().encode(["a"])
    (tiny / "model.onnx").write_bytes(model)
    tokenizer.write_text("{}")
    with pytest.raises(ConfigError, match="cannot read the tokenizer"):
        await OnnxEmbedder(tiny).encoder().encode(["a"])


async def test_a_model_with_other_inputs_is_refused(tmp_path: Path):
    folder = write_model(tmp_path / "other", extra_input="pixel_values")

    with pytest.raises(ConfigError, match="wants an input 'pixel_values'"):
        await OnnxEmbedder(folder).encoder().encode(["a"])


async def test_more_tokens_than_the_model_can_take_say_so(minilm_folder: Path):
    encoder = OnnxEmbedder(minilm_folder, max_tokens=1024).encoder()

    with pytest.raises(BackendError, match="max_tokens above") as caught:
        await encoder.encode([" ".join(["soup"] * 700)])
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("wrong", [{"pooling": "max"}, {"max_tokens": 0}, {"max_tokens": "512"}])
def test_wrong_settings_are_refused_at_once(tiny: Path, wrong: dict[str, object]):
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        OnnxEmbedder(tiny, **wrong)
    with pytest.raises(InvalidInputError, match="threads is 0"):
        OnnxEmbedder(tiny).encoder(threads=0)


def cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left * right).sum(axis=1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)
