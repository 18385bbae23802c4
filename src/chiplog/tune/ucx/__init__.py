"""UCX's thresholds: measured, raced against what is in force, and written as an environment file."""
