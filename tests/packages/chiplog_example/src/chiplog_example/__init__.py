"""A model, an importer, an exporter and a tuning writer: what a package of its own adds to chiplog."""
