"""What the machine was doing while a run was measured: its states, and how well it repeats."""
