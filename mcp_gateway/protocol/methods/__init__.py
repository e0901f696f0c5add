"""One file for each method: its ``params`` checked, the work handed to the ``tools`` room, its result given back."""
