from tests.support.traced import ai, spans

__all__ = ["ai", "spans"]
