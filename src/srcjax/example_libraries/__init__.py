"""JAX's `example_libraries`: the small libraries that its example programs use."""
