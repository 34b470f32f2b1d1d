"""One loaded model for all tests of the plugin, and a tiny one whose vectors can be worked out by hand."""

from pathlib import Path

import pytest

from flowkit_local import Encoder
from flowkit_local.embedder import minilm_encoder
from flowkit_local.weights import minilm_files
from tests.plugins.local.tiny_model import write_model


@pytest.fixture(scope="session")
def minilm() -> Encoder:
    """all-MiniLM-L6-v2, as `local/all-minilm-l6-v2` uses it."""
    return minilm_encoder()


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """An exported folder: words a, b, c are the unit vectors of 3 dimensions, marks are (0, 0, 0)."""
    return write_model(tmp_path / "tiny")


@pytest.fixture
def minilm_folder(tmp_path: Path) -> Path:
    """The bundled model as the folder that an export writes."""
    folder = tmp_path / "exported"
    (folder / "onnx").mkdir(parents=True)
    model, tokenizer = minilm_files()
    (folder / "onnx" / "model.onnx").symlink_to(model)
    (folder / "tokenizer.json").symlink_to(tokenizer)
    return folder
