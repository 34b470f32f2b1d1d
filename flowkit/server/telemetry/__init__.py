"""Traces over HTTP: what tools send and fetch, and what we send to tools."""
