"""Forward mode: the tangent of every value is computed beside the value."""
