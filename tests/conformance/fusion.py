"""Area rrf.

ADAPTERS["rrf"]({"lists": [["A"], ["A", "B"]]})     # {"order": ["A", "B"]}
"""

from collections.abc import Mapping
from typing import Any

from flowkit import Document


def rrf(given: Mapping[str, Any]) -> Any:
    from flowkit.rag.fuse import fuse

    lists = [[Document.from_text(text) for text in texts] for texts in given["lists"]]
    fused = fuse(lists, rrf_k=given["k"]) if "k" in given else fuse(lists)
    return {"order": [document.text for document in fused]}


ADAPTERS = {"rrf": rrf}
