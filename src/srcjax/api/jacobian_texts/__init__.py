"""The functions that fill a Jacobian: in one batch, or in a loop."""
