"""`flowkit start`: a parent process that stays up, and the app beside it, which comes and goes as its files change."""
