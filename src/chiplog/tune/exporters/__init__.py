"""One small module a format."""
