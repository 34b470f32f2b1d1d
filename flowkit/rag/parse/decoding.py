"""Bytes as text: by their byte order mark, as UTF-8, or in the encoding that they look like.

found = decode(data, "notes.txt")
found.text, found.metadata, found.warnings
"""

import codecs
import re
from typing import Any, NamedTuple

from flowkit.errors import InvalidInputError, ParseError

__all__ = ["Decoded", "as_text", "codec_of", "could_be", "decode", "is_binary", "known_codec"]

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPES = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$B", "iso2022_jp"), (b"\x1b$@", "iso2022_jp"))
# For names of hosts: a long text takes them the square of its length.
_NAMES_ONLY = {"idna", "punycode"}
_CONTROL = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_SAMPLE = 200_000
_BINARY_SHARE = 0.02
_USUAL = ("utf-8", "ascii")
_LOST = "\ufffd"
_LOST_SHARE = 0.01
_SPOILT_SHARE = 0.25
_UNSURE = 0.7
_BEYOND_ASCII = bytes(range(0x80, 0x100))


class Decoded(NamedTuple):
    """A text without its byte order mark, the encoding that it is in, and what of that is to be told."""

    text: str
    encoding: str
    confidence: float | None = None
    """0…1, of an encoding that was guessed."""
    warnings: tuple[str, ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """`encoding` where it is not UTF-8, and `encoding_confidence` where it is a guess."""
        if self.encoding in _USUAL:
            return {}
        sure = {} if self.confidence is None else {"encoding_confidence": self.confidence}
        return {"encoding": self.encoding, **sure}


def codec_of(encoding: str) -> str:
    """Python's name of an encoding.

    Raises:
        InvalidInputError: there is none of that name.
    """
    found = known_codec(encoding)
    if found is None:
        raise InvalidInputError(f"no encoding {encoding!r}", hint='for instance "cp1252" or "shift_jis"')
    return found


def known_codec(encoding: object) -> str | None:
    """Python's name of an encoding, None when there is none: what servers and pages call theirs may be anything."""
    if not isinstance(encoding, str) or not encoding:
        return None
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)  # some codecs, such as "hex", are no encodings of text
    except (LookupError, ValueError):
        return None
    return None if name in _NAMES_ONLY else name


def decode(data: bytes, name: str, *, declared: str | None = None) -> Decoded:
    """The text. In order, these decide: a byte order mark, escapes, UTF-8, what is declared, and what it looks like.

    Args:
        declared: What the file says of itself, or its sender; taken when the bytes allow it.

    Raises:
        ParseError: it is no text in any encoding.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            text = data.decode("utf-8-sig" if codec == "utf-8" else codec, "replace")
            return Decoded(text.removeprefix("\ufeff"), codec, warnings=_lost(text, data, codec))
    if is_binary(data):
        raise ParseError(f"{name!r} is no text in any encoding", hint="a binary file; convert it, or leave it out")
    # Text that changes its alphabet by escapes is ASCII to look at.
    escaped = next((codec for escape, codec in _ESCAPES if escape in data[:_SAMPLE]), None)
    for codec in (*([escaped] if escaped else ()), "utf-8", *_declared(declared)):
        try:
            text = data.decode(codec)
        except ValueError:
            continue
        if not _is_wide(text):
            return Decoded(text, codec)
    wide = _wide_codec(data[:_SAMPLE])
    if wide is not None:
        text = data.decode(wide, "replace")
        return Decoded(text, wide, warnings=_lost(text, data, wide))
    return _spoilt(data) or _guessed(data)


def as_text(data: bytes, encoding: str, name: str) -> str:
    """The text in the encoding that the caller names.

    Raises:
        InvalidInputError: there is no such encoding.
        ParseError: it is not in that encoding.
    """
    codec = codec_of(encoding)
    try:
        decoded = data.decode("utf-8-sig" if codec == "utf-8" else codec)
    except UnicodeDecodeError as error:
        where = f"byte 0x{data[error.start]:02x} at position {error.start}"
        raise ParseError(
            f"{name!r} is not {codec} text: {where}", hint="pass another encoding=, or none, and it is found out"
        ) from error
    except ValueError as error:
        raise ParseError(f"{name!r} is not {codec} text: {error}", hint="pass another encoding=") from error
    if _is_wide(decoded):
        raise ParseError(
            f"{name!r} is full of NUL characters, so it is no {codec} text",
            hint='a binary file, or text in UTF-16: encoding="utf-16-le"',
        )
    return decoded


def could_be(data: bytes, encoding: str | None) -> bool:
    """Whether that is an encoding, and bytes that have no mark of another, and are not UTF-8, are in it."""
    codecs_said = _declared(encoding)
    if not codecs_said or data.startswith(tuple(mark for mark, _ in _MARKS)):
        return False
    for codec in ("utf-8", *codecs_said):
        try:
            data.decode(codec)
        except ValueError:
            continue
        return codec != "utf-8"
    return False


def is_binary(data: bytes) -> bool:
    """Whether bytes without a byte order mark can be no text: NUL or control characters are in them."""
    sample = data[:_SAMPLE]
    if _wide_codec(sample) is not None:
        return False
    text = sample.decode("latin-1")
    return _is_wide(text) or len(_CONTROL.findall(text)) > _BINARY_SHARE * len(text)


def _spoilt(data: bytes) -> Decoded | None:
    """UTF-8 but for a few bytes: cut at its end, say, or with a line of another file in it."""
    text = data.decode("utf-8", "replace")
    # Text in another encoding is hardly ever UTF-8 by chance, not even a letter of it.
    beyond = len(text) - len(data.translate(None, _BEYOND_ASCII))
    if text.count(_LOST) > _SPOILT_SHARE * beyond:
        return None
    return Decoded(text, "utf-8", warnings=_lost(text, data, "utf-8"))


def _guessed(data: bytes) -> Decoded:
    from flowkit.rag.parse.guessing import guessed

    codec, confidence = guessed(data)
    text = data.decode(codec, "replace")
    if text.count(_LOST) > _LOST_SHARE * len(text):  # what it was guessed of is not like the rest
        codec, confidence = "latin-1", 0.0
        text = data.decode(codec)
    warnings = _lost(text, data, codec)
    if confidence < _UNSURE:
        warnings = (f"its encoding is a guess ({codec}); if letters are wrong, pass encoding=", *warnings)
    return Decoded(text, codec, confidence, warnings)


def _lost(text: str, data: bytes, codec: str) -> tuple[str, ...]:
    lost = text.count(_LOST) - (data.count(_LOST.encode()) if codec == "utf-8" else 0)
    return (f"characters that are no {codec} stand as \ufffd in the text: {lost}",) if lost > 0 else ()


def _declared(encoding: str | None) -> tuple[str, ...]:
    codec = known_codec(encoding)
    return () if codec is None else (codec,)


def _is_wide(text: str) -> bool:
    return text.count("\0") > len(text) // 10


def _wide_codec(sample: bytes) -> str | None:
    """UTF-16 without a mark, of text that is mostly in Latin letters: every other byte is NUL."""
    sample = sample[: len(sample) // 2 * 2]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 * half and odd < 0.05 * half else None
