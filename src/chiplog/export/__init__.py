"""What chiplog knows, in the formats of others."""
