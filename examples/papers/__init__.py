"""The figures of five papers, drawn by chiplog."""
