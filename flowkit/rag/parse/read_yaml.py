"""Inside a YAML file: whether it is one, and its text. Runs in the process that reads, since some take hours.

for piece in read(job): ...

Nothing is made of what it says, only the tree of its nodes: a tag stands for no object there, and an alias for the node
that it names, however often it does.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from flowkit.errors import ConfigError, ParseError
from flowkit.rag.parse.decoding import Decoded, as_text, decode
from flowkit.rag.parse.pieces import End, Job, Page, Piece

__all__ = ["read"]

_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"
_LONG_LINE = 2_000
_WIDTH = 200
_HINT = "correct it, or read it with parse.text"


def read(job: Job) -> Iterator[Piece]:
    """One page: the text of the file, laid out in lines where it is not."""
    try:
        import yaml
    except ImportError:
        raise ConfigError("parse.yaml needs pyyaml", hint="pip install 'flowkit-ai[yaml]'") from None
    encoding = job.options.get("encoding")
    found = (
        decode(job.content, job.name)
        if encoding is None
        else Decoded(as_text(job.content, encoding, job.name), "utf-8")
    )
    try:
        nodes = list(yaml.compose_all(found.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.YAMLError as error:
        raise ParseError(f"{job.name!r} is no YAML: {_told(error)}", hint=_HINT) from error
    collections = _checked(job, nodes)
    if all(_is_blank(node) for node in nodes):
        raise ParseError(f"{job.name!r} has no text: there is nothing in its YAML", hint="skip it")
    text = found.text
    if "\\u" in text or max(map(len, text.split("\n"))) > _LONG_LINE:
        for each in collections:
            each.flow_style = False
        text = yaml.serialize_all(nodes, Dumper=yaml.SafeDumper, allow_unicode=True, width=_WIDTH)
    yield Page(text)
    yield End(found.metadata, found.warnings)


def _checked(job: Job, nodes: Sequence[Any]) -> Collection[Any]:
    """The lists and mappings under some nodes, each once.

    Raises:
        ParseError: a mapping has a key twice.
    """
    from yaml import MappingNode, ScalarNode, SequenceNode

    pending, seen = list(reversed(nodes)), dict[int, Any]()
    while pending:
        node = pending.pop()
        if id(node) in seen or not isinstance(node, MappingNode | SequenceNode):
            continue
        seen[id(node)] = node
        if isinstance(node, SequenceNode):
            pending.extend(reversed(node.value))
            continue
        lines: dict[tuple[str, str], int] = {}
        for key, value in node.value:
            pending += (value, key)
            if not isinstance(key, ScalarNode) or key.tag == _MERGE:
                continue
            name, line = (key.tag, key.value), key.start_mark.line + 1
            if name in lines:
                where = f"in lines {lines[name]} and {line}" if lines[name] != line else f"in line {line}"
                raise ParseError(f"{job.name!r} has the key {key.value!r} twice, {where}", hint=_HINT)
            lines[name] = line
    return seen.values()


def _is_blank(node: Any) -> bool:
    return node is None or node.tag == _NULL or (isinstance(node.value, str) and not node.value.strip())


def _told(error: Exception) -> str:
    problem, mark = getattr(error, "problem", None), getattr(error, "problem_mark", None)
    told = problem or " ".join(str(error).split())
    return told if mark is None else f"line {mark.line + 1}: {told}"
