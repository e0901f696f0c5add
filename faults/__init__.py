"""The fault suite: a real gateway under load while something goes wrong, fault by fault. See README.md."""
