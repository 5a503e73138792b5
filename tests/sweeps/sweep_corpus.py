"""The modes of which the tests of the corpus run a sample, here for all programs."""

from tests.corpus import test_batch, test_forward, test_programs
from tests.corpus.test_programs import accepted  # noqa: F401  (a fixture)

#: By file, tests that run a part of the corpus in the first stage.
SAMPLED = {
    test_programs: (
        "test_differences_agree_with_jax",
        "test_generated_again",
        "test_grad",
        "test_grad_alone_and_called_again",
        "test_grad_of_a_reduction",
        "test_program_changes_nothing",
        "test_program_runs_the_same_twice",
        "test_text",
    ),
    test_forward: (
        "test_jvp",
        "test_linearize",
        "test_forward_over_reverse",
        "test_forward_over_forward",
        "test_reverse_over_forward",
        "test_deep",
    ),
    test_batch: (
        "test_vmap",
        "test_vmap_of_grad",
        "test_grad_of_vmap",
        "test_vmap_of_vmap",
        "test_jvp_of_vmap",
        "test_vmap_of_jvp",
    ),
}
for _module, _names in SAMPLED.items():
    for _name in _names:
        globals()[_name] = getattr(_module, _name)
