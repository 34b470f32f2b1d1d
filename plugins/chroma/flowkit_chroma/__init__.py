"""The Chroma plugin: vector indexes in a folder of yours, or in a Chroma server.

from flowkit_chroma import Chroma
ai = Flowkit(plugins=[Chroma("menu", path="data/chroma", embedder="local/all-minilm-l6-v2")])
"""

from flowkit_chroma.store import Chroma
from flowkit_chroma.where import Plan, plan

__all__ = ["Chroma", "Plan", "plan"]
