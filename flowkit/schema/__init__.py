"""The values that everything passes around: frozen, without I/O, snake_case here and Genkit's camelCase on the wire."""
