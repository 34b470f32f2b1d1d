"""Looks at what would happen, before anything is written: how a text is cut, and what its vectors look like."""
