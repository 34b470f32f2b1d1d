"""The values that everything passes around: frozen data without I/O, snake_case here and Genkit's camelCase on the wire."""
