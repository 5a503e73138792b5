"""What changes around a function: all compositions, of which the tests run a sample."""

from tests.versions import test_surroundings

test_values_around_change = test_surroundings.test_values_around_change
