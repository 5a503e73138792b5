"""Second derivatives of which the tests run a sample, here all of them."""

from tests import test_training_programs
from tests.transforms import test_kept, test_rows_of_lists

test_kept_by_a_sweep = test_kept.test_reverse_over_reverse
test_kept_or_refused = test_kept.test_right_or_refused
test_rows = test_rows_of_lists.test_gradients
test_rows_or_refused = test_rows_of_lists.test_right_or_refused
test_training = test_training_programs.test_gradient
