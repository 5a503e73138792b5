"""What inference finds in written functions is so: all of the corpus, in each mode."""

from tests.transforms.test_inferred import test_types_and_memory_are_as_found

__all__ = ["test_types_and_memory_are_as_found"]
