"""The figures of five documents, drawn by chiplog."""
