"""Names that Pinecone takes, for any text, and back: of indexes, namespaces and records.

pinecone_name("メニュー")         # "fk-n--e3-83-a1…"
index_name("fk-n--e3-83-a1…")    # "メニュー"
"""

import re
from hashlib import sha256

from flowkit.errors import InvalidInputError
from flowkit.plugin import is_blank

__all__ = ["CATALOG", "DEFAULT", "checked_namespace", "index_name", "pinecone_name", "record_id", "row_id"]

CATALOG = "flowkit-catalog"
"""The namespace of what is known of an index beside its rows."""
DEFAULT = "__default__"

_OURS = "fk-"
_ENCODED = "fk-n-"
_HASHED = "fk-h-"
_LONGEST_NAME = 45
_LONGEST_ID = 512
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
_NAMED_ESCAPE = re.compile(r"-([0-9a-f]{2})")
_UNESCAPED = re.compile(r"[\x22-\x7d]*")
_ESCAPE = re.compile(r"[!~]([0-9a-f]{2})")


def pinecone_name(index: str) -> str:
    """The name of an index in Pinecone: its own where that is allowed, else an encoded one. Never the same for two.

    Raises:
        InvalidInputError: the name is blank.
    """
    if not isinstance(index, str) or is_blank(index):
        raise InvalidInputError(f"index name {index!r} is blank", hint='name it: Pinecone("menu", …)')
    if _PLAIN.fullmatch(index) and len(index) <= _LONGEST_NAME and not index.startswith(_OURS):
        return index
    data = index.encode("utf-8", "surrogatepass")
    name = _ENCODED + "".join(chr(byte) if byte in _SAFE else f"-{byte:02x}" for byte in data)
    if len(name) <= _LONGEST_NAME:
        return name
    return _HASHED + sha256(data).hexdigest()[: _LONGEST_NAME - len(_HASHED)]  # the index's own record has the name


def index_name(name: str) -> str | None:
    """The index whose name Pinecone's spells out; None for a hashed one."""
    if name.startswith(_ENCODED):
        data = _NAMED_ESCAPE.sub(lambda found: chr(int(found[1], 16)), name[len(_ENCODED) :])
        return data.encode("latin-1").decode("utf-8", "surrogatepass")
    return None if name.startswith(_OURS) else name


def checked_namespace(namespace: str) -> str:
    """A namespace as Pinecone takes it; "" is its default one.

    Raises:
        InvalidInputError: it is too long, or the one that the plugin keeps for itself.
    """
    if namespace in ("", DEFAULT):
        return ""
    if namespace == CATALOG:
        raise InvalidInputError(f"namespace {CATALOG!r} is the plugin's own", hint="take another name")
    return _escaped(namespace, "namespace")


def record_id(id: str) -> str:
    """A row's id as Pinecone takes it: printable ASCII without spaces, in the same order as the ids themselves.

    Raises:
        InvalidInputError: it is longer than 512 bytes that way.
    """
    return _escaped(id, "id")


def row_id(record: str) -> str:
    """The row's id for a record's."""
    if "!" not in record and "~" not in record:
        return record
    data = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), record)
    return data.encode("latin-1").decode("utf-8", "surrogatepass")


def _escaped(text: str, what: str) -> str:
    if len(text) <= _LONGEST_ID and _UNESCAPED.fullmatch(text):
        return text
    # An escape begins with the lowest letter for what is below it, and with the highest for what is above.
    data = text.encode("utf-8", "surrogatepass")
    name = "".join(f"!{byte:02x}" if byte <= 0x21 else f"~{byte:02x}" if byte >= 0x7E else chr(byte) for byte in data)
    if len(name) > _LONGEST_ID:
        raise InvalidInputError(
            f"{what} {text[:40]!r}… takes {len(name)} bytes in Pinecone, which allows {_LONGEST_ID}",
            hint="letters beyond ASCII take 6 to 12 bytes each; use a shorter one, or a hash of it",
        )
    return name
