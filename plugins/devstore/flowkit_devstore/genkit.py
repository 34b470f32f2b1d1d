"""Take over an index of Genkit's dev-local vector store: its documents and its vectors, without embedding again.

count = await import_genkit(Path("__db_menu.json"), DevStore("menu", embedder="googleai/text-embedding-004"))
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flowkit import Document
from flowkit.errors import FlowkitError, ParseError
from flowkit.plugin import EmbeddedDocument, VectorStore, document_id, metadata_hash, run_in_thread

__all__ = ["import_genkit"]

_BATCH = 1000


async def import_genkit(path: Path, store: VectorStore) -> int:
    """Write every entry of a `__db_<name>.json` file to `store`, which is created when it is not there.

    Rows get the ids that indexing the same documents gives, so that indexing them again later adds nothing.

    Returns:
        How many rows were written.

    Raises:
        ParseError: there is no such file, or it is no Genkit index; nothing was written then.
        IdentityError: the store has vectors of another dimension.
    """
    rows = await run_in_thread(_read, (Path(path),))
    dimension = len(rows[0].vector) if rows else None
    await store.open(create=True, dimension=dimension)
    for at in range(0, len(rows), _BATCH):
        await store.upsert(rows[at : at + _BATCH])
    return len(rows)


def _read(path: Path) -> list[EmbeddedDocument]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ParseError(f"there is no file {path}", hint="Genkit writes it where the app runs") from None
    except ValueError as error:
        raise ParseError(f"{path} is no JSON file: {error}", hint="is it cut short?") from None
    if not isinstance(entries, dict):
        raise ParseError(f"{path} is no index of Genkit: it holds no object")
    return list(_rows(path, entries))


def _rows(path: Path, entries: dict[str, Any]) -> Iterator[EmbeddedDocument]:
    seen: Counter[tuple[str | None, str, str]] = Counter()
    for key, entry in entries.items():
        try:
            document = Document.from_wire(entry["doc"])
            embedding = entry["embedding"]
            vector = embedding["embedding"] if isinstance(embedding, dict) else embedding
        except (KeyError, TypeError, ValueError, FlowkitError) as error:
            raise ParseError(f"entry {key!r} of {path} cannot be read: {error}") from error
        alike = (
            document.source,
            document.text,
            "" if document.source is not None else metadata_hash(document.metadata),
        )
        id = document_id(document.source, document.text, seen[alike], document.metadata)
        seen[alike] += 1
        yield EmbeddedDocument(document.with_id(id), vector)
