"""The dev store plugin: vector indexes in files of the project.

from flowkit_devstore import DevStore
ai = Flowkit(plugins=[DevStore("menu", embedder="local/all-minilm-l6-v2")])
"""

from flowkit_devstore.genkit import import_genkit
from flowkit_devstore.listing import IndexInfo, list_indexes
from flowkit_devstore.store import DevStore

__all__ = ["DevStore", "IndexInfo", "import_genkit", "list_indexes"]
