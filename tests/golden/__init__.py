"""Generated gradients of textbook functions, kept as files and reviewed as code."""
