"""Knowledge graphs of documents: nodes, and edges between them.

GraphDocument(nodes=frozenset({ada}), edges=frozenset(), source=document)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from flowkit.schema.documents import Document
from flowkit.schema.wire import JSON

__all__ = ["GraphDocument", "GraphEdge", "GraphNode"]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A thing: equal ones, properties included, are one node."""

    id: str
    type: str = "Node"
    properties: Mapping[str, JSON] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.id, self.type))


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation of a certain type, from one node to another."""

    source: GraphNode
    target: GraphNode
    type: str
    properties: Mapping[str, JSON] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.source, self.target, self.type))


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """What a document says, as a graph. `source` is that document."""

    nodes: frozenset[GraphNode]
    edges: frozenset[GraphEdge]
    source: Document
