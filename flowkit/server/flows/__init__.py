"""Flows in production: `ai.asgi()` and `flowkit serve`. No developer API is part of it.

app = ai.asgi(context_providers=[api_key("sk-…")])          # an ASGI app: uvicorn module:app, or mount it
"""
