"""Protocol changes: where a machine switches protocols, and how sure that is."""
