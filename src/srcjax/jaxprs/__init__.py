"""`make_jaxpr`: the core form of a function in JAX's notation."""
