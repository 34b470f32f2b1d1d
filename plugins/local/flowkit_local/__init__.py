"""The local plugin: embeddings and extractive answers on this machine, without keys or network.

from flowkit_local import Local
ai = Flowkit(plugins=[Local()], model="local/extractive")
"""

from flowkit_local.embedder import OnnxEmbedder
from flowkit_local.encoder import Encoded, Encoder
from flowkit_local.plugin import Local
from flowkit_local.tokenizer import Tokenizer

__all__ = ["Encoded", "Encoder", "Local", "OnnxEmbedder", "Tokenizer"]
