"""Reports: one HTML page with plots, Markdown, and the terminal. Shows results; computes nothing new."""
