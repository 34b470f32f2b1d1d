"""What a splitter has cut lately: a folder that is indexed again, or watched, is mostly what it was.

pieces = memory.recall(text, splitter.pieces)
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Memory"]

MOST_CHARACTERS = 8_000_000
"""Of chunks that are kept, by each splitter: some thousands of pages."""


class _Sized(Protocol):
    @property
    def text(self) -> str: ...


P = TypeVar("P", bound=_Sized)


class Memory(Generic[P]):
    """Pieces by the text that they were cut from; what was not asked for longest goes first. Any thread may ask."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, tuple[int, tuple[P, ...]]] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def recall(self, text: str, cut: Callable[[str], list[P]]) -> list[P]:
        """What `cut` gives for `text`, now or before; it must give the same each time."""
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return list(self._known[key][1])
        found = cut(text)
        size = sum(len(piece.text) for piece in found)
        if size <= MOST_CHARACTERS // 8:
            with self._lock:
                self._characters += size - self._known.pop(key, (0, ()))[0]
                self._known[key] = size, tuple(found)
                while self._characters > MOST_CHARACTERS:
                    _, (gone, _) = self._known.popitem(last=False)
                    self._characters -= gone
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """A splitter that goes to another process takes nothing of this along."""
        return Memory, ()
