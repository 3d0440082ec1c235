"""One story for each page: a reader who chooses, drags, uses keys, and comes back."""
