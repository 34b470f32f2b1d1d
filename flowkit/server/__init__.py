"""What serves an app to people and tools: the dev server, the reflection API, deployed flows."""
