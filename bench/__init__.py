"""The project's own benchmark: the gateway beside what anyone would write in twenty lines. See README.md."""
