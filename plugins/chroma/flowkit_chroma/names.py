"""Collection names for index names: any text becomes 3 to 512 of the characters that Chroma allows, and back.

collection_name("メニュー")       # fk_n-_e3_83_a1…
index_name("fk_n-_e3_83_a1…")     # メニュー
"""

import re
from hashlib import sha256

from flowkit.errors import InvalidInputError
from flowkit.plugin import is_blank

__all__ = ["catalog_name", "collection_name", "index_name"]

_OURS = "fk_"
_ENCODED = "fk_n-"
_HASHED = "fk_h-"
_CATALOG = "fk_c-"
_LONGEST = 512
_PLAIN = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9_-]|\.(?!\.)){1,510}[a-zA-Z0-9]")
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")  # Chroma takes no IPv4 address for a name


def collection_name(index: str) -> str:
    """The name of an index's collection: its own where Chroma allows it, else an encoded one. Never the same for two.

    Raises:
        InvalidInputError: the name is blank.
    """
    if not isinstance(index, str) or is_blank(index):
        raise InvalidInputError(f"index name {index!r} is blank", hint='name it: Chroma("menu", …)')
    if _PLAIN.fullmatch(index) and not index.startswith(_OURS) and not _ADDRESS.fullmatch(index):
        return index
    data = index.encode("utf-8", "surrogatepass")
    name = _ENCODED + "".join(chr(byte) if byte in _SAFE else f"_{byte:02x}" for byte in data)
    if len(name) <= _LONGEST:
        return name
    return _HASHED + sha256(data).hexdigest()  # the name itself stands in the collection's metadata


def index_name(collection: str) -> str | None:
    """The index whose name a collection's name spells out; None for a hashed one, and for other collections of ours."""
    if collection.startswith(_ENCODED):
        data = re.sub(r"_([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), collection[len(_ENCODED) :])
        return data.encode("latin-1").decode("utf-8", "surrogatepass")
    return None if collection.startswith(_OURS) else collection


def catalog_name(collection: str) -> str:
    """The collection beside an index's that holds what is known of its metadata keys."""
    return _CATALOG + sha256(collection.encode()).hexdigest()
