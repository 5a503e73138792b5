"""Views of a function and its generated source, side by side."""
