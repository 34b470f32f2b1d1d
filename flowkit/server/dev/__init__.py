"""The API of the developer UI: what can be run, runs, traces, uploads, settings, and one stream of events."""
