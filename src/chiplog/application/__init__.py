"""What an application's communication costs, from a trace of it."""
