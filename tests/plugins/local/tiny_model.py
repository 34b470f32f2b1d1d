"""A text encoder of a few hundred bytes, written without any ONNX package: each word is a unit vector.

folder = write_model(tmp_path / "tiny")
"""

import struct
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

__all__ = ["WORDS", "write_model"]

WORDS = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "a": 3, "b": 4, "c": 5, "query": 6, ":": 7}
# One row per word. The mark at the beginning has a direction of its own, so that "cls" pooling can be seen.
_TABLE = [(0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 9), (0, 0, 0)]
_FLOAT, _INT64 = 1, 7


def write_model(folder: Path, *, cls: tuple[float, float, float] = (0, 0, 0), extra_input: str | None = None) -> Path:
    """Write `model.onnx` (a look-up of rows) and `tokenizer.json`; `cls` is the state of the first mark."""
    folder.mkdir(parents=True, exist_ok=True)
    table = [cls, *_TABLE[1:]]
    rows = struct.pack(f"<{3 * len(table)}f", *(value for row in table for value in row))
    weights = _field(1, len(table)) + _field(1, 3) + _field(2, _FLOAT) + _field(8, b"table") + _field(9, rows)
    node = _field(1, b"table") + _field(1, b"input_ids") + _field(2, b"last_hidden_state") + _field(4, b"Gather")
    names = ["input_ids", "attention_mask", *([extra_input] if extra_input else [])]
    inputs = b"".join(_field(11, _value(name, _INT64, "texts", "tokens")) for name in names)
    output = _field(12, _value("last_hidden_state", _FLOAT, "texts", "tokens", 3))
    graph = _field(1, node) + _field(2, b"tiny") + _field(5, weights) + inputs + output
    opset = _field(1, b"") + _field(2, 17)
    (folder / "model.onnx").write_bytes(_field(1, 8) + _field(7, graph) + _field(8, opset))

    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", WORDS["[CLS]"]), ("[SEP]", WORDS["[SEP]"])]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _value(name: str, kind: int, *shape: int | str) -> bytes:
    sizes = b"".join(
        _field(1, _field(1, size) if isinstance(size, int) else _field(2, size.encode())) for size in shape
    )
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, kind) + _field(2, sizes)))


def _field(number: int, value: int | bytes) -> bytes:
    """One field of a protobuf message: a varint, or bytes."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
