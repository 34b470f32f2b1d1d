from tests.support.stores import counting, menu, store
from tests.support.traced import ai, spans

__all__ = ["ai", "counting", "menu", "spans", "store"]
