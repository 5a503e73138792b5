"""What JAX has under `jax.experimental`, and tutorials use."""
