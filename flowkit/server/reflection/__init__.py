"""How developer tools reach an app: Genkit's reflection protocol, over HTTP (v1) and WebSocket (v2)."""
