"""The job of `pipelines.py` as others do it; runs in any Python that has them, and imports nothing of flowkit.

    python -m tests.benchmarks._pipelines_peers langchain FOLDER MODEL TOKENIZER

Prints one JSON object: seconds of wall clock and of processor time, without imports, and what was made. The model is
the same file for all. Peers embed 32 texts at a time in the order given, with the session's own default of threads, as
their wrappers around ONNX models do; the limit embeds as well as is known.
"""

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks._embedding_limit import Bare

CHARS, OVERLAP = 700, 70  # what the model reads at once: peers cut off the rest, we would embed it, too

Job = Callable[[Path, Path], tuple[int, int]]
"""From the folder into the index's folder; gives how many pages and chunks there are."""


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def embedder(model: Path, tokenizer: Path, threads: int) -> Callable[[Sequence[str]], Any]:
    if threads:
        bare = Bare(model, tokenizer, threads=threads)
        return lambda texts: bare.sorted(list(texts))
    import onnxruntime as ort

    peers = Bare(model, tokenizer, threads=1)
    peers.sessions = [ort.InferenceSession(str(model), providers=["CPUExecutionProvider"])]
    return lambda texts: peers.in_order(list(texts))


def langchain(embed: Callable[[Sequence[str]], Any]) -> Job:
    from langchain_chroma import Chroma
    from langchain_community.document_loaders import PyPDFLoader
    from langchain_core.embeddings import Embeddings
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    class Onnx(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [vector.tolist() for vector in embed(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    def job(folder: Path, index: Path) -> tuple[int, int]:
        pages = [page for file in sorted(folder.glob("*.pdf")) for page in PyPDFLoader(str(file)).load()]
        chunks = RecursiveCharacterTextSplitter(chunk_size=CHARS, chunk_overlap=OVERLAP).split_documents(pages)
        Chroma.from_documents(chunks, Onnx(), persist_directory=str(index))
        return len(pages), len(chunks)

    return job


def haystack(embed: Callable[[Sequence[str]], Any]) -> Job:
    from haystack import Document, Pipeline, component
    from haystack.components.converters import PyPDFToDocument
    from haystack.components.preprocessors import RecursiveDocumentSplitter
    from haystack.components.writers import DocumentWriter
    from haystack_integrations.document_stores.chroma import ChromaDocumentStore

    @component
    class Onnx:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, list[Document]]:
            for document, vector in zip(documents, embed([each.content for each in documents]), strict=True):
                document.embedding = vector.tolist()
            return {"documents": documents}

    def job(folder: Path, index: Path) -> tuple[int, int]:
        store = ChromaDocumentStore(persist_path=str(index))
        pipeline = Pipeline()
        pipeline.add_component("read", PyPDFToDocument())
        # As LangChain cuts; its default asks for sentences, which need data from the network.
        parts = {"split_unit": "char", "separators": ["\n\n", "\n", " "]}
        pipeline.add_component("split", RecursiveDocumentSplitter(split_length=CHARS, split_overlap=OVERLAP, **parts))
        pipeline.add_component("embed", Onnx())
        pipeline.add_component("write", DocumentWriter(store))
        for one, other in (("read", "split"), ("split", "embed"), ("embed", "write")):
            pipeline.connect(f"{one}.documents", f"{other}.documents")
        pipeline.run({"read": {"sources": sorted(folder.glob("*.pdf"))}})
        return 0, store.count_documents()

    return job


def limit(embed: Callable[[Sequence[str]], Any]) -> Job:
    import numpy as np
    import pypdfium2

    def job(folder: Path, index: Path) -> tuple[int, int]:
        pages = []
        for file in sorted(folder.glob("*.pdf")):
            with pypdfium2.PdfDocument(file) as document:
                pages += [page.get_textpage().get_text_range() for page in document]
        step = CHARS - OVERLAP
        chunks = [page[at : at + CHARS] for page in pages for at in range(0, max(1, len(page) - OVERLAP), step)]
        np.save(index / "vectors.npy", embed(chunks))
        (index / "texts.json").write_text(json.dumps(chunks))
        return len(pages), len(chunks)

    return job


PEERS = {"langchain": (langchain, 0), "haystack": (haystack, 0), "limit": (limit, 2)}


def main() -> int:
    name, folder, model, tokenizer = sys.argv[1:]
    os.environ |= {"ANONYMIZED_TELEMETRY": "False", "HAYSTACK_TELEMETRY_ENABLED": "False"}
    make, threads = PEERS[name]
    embed = embedder(Path(model), Path(tokenizer), threads)
    job = make(embed)
    embed(["A text, so that the session is warm."])
    with tempfile.TemporaryDirectory() as index:
        wall, busy = time.perf_counter(), cpu()
        pages, chunks = job(Path(folder), Path(index))
        told = {"wall": time.perf_counter() - wall, "cpu": cpu() - busy, "pages": pages, "chunks": chunks}
    print(json.dumps(told), flush=True)
    os._exit(0)  # some of them have threads that outlive their work


if __name__ == "__main__":
    sys.exit(main())
