"""Inside an e-mail as mail programs save it (.eml). Runs in the process that reads.

for piece in read(job): ...
"""

import re
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from flowkit.errors import ParseError
from flowkit.rag.parse.decoding import decode
from flowkit.rag.parse.markup import render
from flowkit.rag.parse.pieces import End, Job, Page, Piece

__all__ = ["read"]

_SHOWN = ("Subject", "From", "To", "Cc", "Date")
_DEEPEST = 10
_BEYOND_REPAIR = (AttributeError, LookupError, TypeError, ValueError)
"""What the standard parser trips over headers with that are not as they should be."""


def read(job: Job) -> Iterator[Piece]:
    """One page; then the headers."""
    message = BytesParser(policy=policy.default).parsebytes(job.content)
    if not isinstance(message, EmailMessage) or not any(message.get(name) for name in (*_SHOWN, "Message-ID")):
        raise ParseError(f"{job.name!r} is no e-mail: it has no subject, sender or date", hint="use parse.text")
    attached: list[str] = []
    warnings: list[str] = []
    parts = list(_parts(message, attached, warnings, 0))
    if attached:
        parts.append(f"Attachments: {', '.join(attached)}")
    yield Page("\n\n".join(parts))
    yield End(
        {
            "title": _header(message, "Subject"),
            "from": _header(message, "From"),
            "to": _header(message, "To"),
            "date": _date(message),
            "attachments": attached or None,
        },
        tuple(dict.fromkeys(warnings)),
    )


def _parts(message: EmailMessage, attached: list[str], warnings: list[str], depth: int) -> Iterator[str]:
    subject = _header(message, "Subject")
    if subject:
        yield f"{'#' * min(depth + 1, 6)} {subject}"
    lines = [f"{name}: {value}" for name in _SHOWN[1:] if (value := _header(message, name))]
    if lines:
        yield "\n".join(lines)
    body = message.get_body(("plain", "html"))
    if isinstance(body, EmailMessage) and (text := _text(body, warnings)):
        yield text
    for part in _attachments(message):
        inner = part.get_payload(0) if part.get_content_type() == "message/rfc822" and part.is_multipart() else None
        if isinstance(inner, EmailMessage) and depth < _DEEPEST:
            yield from _parts(inner, attached, warnings, depth + 1)
        elif (name := _name(part)) is not None:
            attached.append(name)


def _attachments(message: EmailMessage) -> Iterator[EmailMessage]:
    """What is no text of the message: not the bodies, and no pictures in them."""
    if message.get_content_maintype() != "multipart":
        return
    try:
        parts = list(message.iter_attachments())
    except _BEYOND_REPAIR:
        return
    for part in parts:
        if isinstance(part, EmailMessage):
            if part.get_content_maintype() == "multipart" and part.get_content_type() != "message/rfc822":
                yield from _attachments(part)
            else:
                yield part


def _name(part: EmailMessage) -> str | None:
    try:
        name = part.get_filename()
    except _BEYOND_REPAIR:
        name = None
    if name:
        return " ".join(str(name).split())
    return part.get_content_type() if part.get_content_disposition() == "attachment" else None


def _text(body: EmailMessage, warnings: list[str]) -> str:
    data = body.get_payload(decode=True)
    if not isinstance(data, bytes) or not data.strip():
        return ""
    try:
        found = decode(data, "the message", declared=body.get_content_charset())
    except ParseError:
        return ""
    text = found.text
    warnings.extend(found.warnings)
    if body.get_content_subtype() == "html":
        return render(text).text
    return re.sub(r"\n{3,}", "\n\n", text.replace("\r\n", "\n")).strip()


def _header(message: EmailMessage, name: str) -> str | None:
    try:
        value = message.get(name)
    except _BEYOND_REPAIR:
        return None
    return " ".join(str(value).split()) or None if value is not None else None


def _date(message: EmailMessage) -> str | None:
    try:
        found = message.get("Date")
        return found.datetime.isoformat() if found is not None and found.datetime is not None else None
    except _BEYOND_REPAIR:
        return None
