"""The Pinecone plugin: vector indexes in Pinecone's serverless service.

from flowkit_pinecone import Pinecone
ai = Flowkit(plugins=[Pinecone("menu", embedder="local/all-minilm-l6-v2")])
"""

from flowkit_pinecone.rows import Metric
from flowkit_pinecone.store import Pinecone
from flowkit_pinecone.where import Plan, plan

__all__ = ["Metric", "Pinecone", "Plan", "plan"]
