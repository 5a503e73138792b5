"""Programs of the corpus that `vmap` and its compositions do not serve yet."""

#: Arguments that are not only real numbers: they have no examples.
NOT_REAL = {
    "edges.loop_over_empty_list",
    "edges.python_integer",
    "edges.python_integers_in_a_list",
}
#: NumPy's numbers warn where Python's raise, and the program tries again.
LEFT_OUT = {"attempts.retried_until_it_works"}
#: Programs of which `vmap` runs all or a part in a loop over the examples, by reason.
REASONS = {
    "try ... except: which example raised is not known": [
        "attempts.both_sides_use_old_values",
        "attempts.damped",
        "attempts.damped_until_positive",
        "attempts.exception_with_a_value",
        "attempts.half_done_array",
        "attempts.half_done_list",
        "attempts.a_bare_except_inside_another",
        "attempts.a_bare_except_that_raises_again",
        "attempts.the_inner_bare_except",
        "attempts.the_outer_bare_except",
        "attempts.half_done_names",
        "attempts.inverted",
        "attempts.not_inverted",
        "attempts.only_the_look_up_is_tried",
        "attempts.positive_at_once",
        "attempts.raised_again",
        "attempts.raised_again_caught_outside",
        "attempts.returns_from_the_body",
        "attempts.returns_from_the_handler",
        "attempts.several_handlers_in_a_loop",
        "attempts.tapes_of_a_body_left_early",
        "attempts.value_overwritten",
        "attempts.value_overwritten_where_it_fails",
        "inactive.else_of_a_try_without_derivatives",
        "inactive.exception_caught",
        "inactive.loop_over_attempts",
        "statements.try_except_not_raised",
    ],
    "an operation or function that is not known, or ranks that are not": [
        "arrays.attributes_of_arrays",
        "changing.ragged_parameters_of_a_callee",
        "changing.ragged_parameters_summed_twice",
        "edges.branch_never_taken",
        "edges.network_without_layers",
        "functions.functions_by_choice",
        "containers.stack_of_a_calculator",
        "functions.functions_in_a_list",
        "functions.lambdas_with_defaults_in_a_comprehension",
        "inplace.changed_after_an_unknown_callee",
        "objects.getattr_and_isinstance",
        "standard.loop_without_an_end",
    ],
    "the order differs between examples": [
        "changing.read_and_sorted",
        "containers.list_sorted_in_place",
        "containers.sorted_and_reversed",
        "containers.sorted_by_key",
        "containers.sorted_dict",
        "containers.sorted_pairs_unzipped",
        "containers.sorted_with_key_and_reverse",
    ],
    "a container that examples change in their own ways": [
        "containers.comprehension_with_two_loops",
        "containers.iterators_in_variables",
        "containers.rows_filled_in_branches",
        "models.knapsack_by_table",
        "standard.iterators_that_stop",
    ],
    "other: structure that is not known": [
        "containers.any_and_all_on_lists",
        "functions.recursion_over_a_tree_inside",
        "functions.recursion_that_ends_at_none",
        "inactive.random_with_a_seed",
        "inplace.which_is_changed_depends",
        "standard.pairs_triples_and_products",
    ],
    "an object of which some parts are the same for all": [],
    "a mask that selects": [
        "arrays.masks",
        "inplace.gathered_is_not_a_view",
        "inplace.mask_assigned_from_values",
    ],
    "text, logs and prints of a mapped value": [
        "standard.logs_and_clocks",
        "statements.formatted_strings",
        "statements.printing",
    ],
}
IN_A_LOOP = {name for names in REASONS.values() for name in names}

#: A result of some examples, of no known structure, is put among those of the others.
PUT_BACK = ("branches.branch_changes_type",)

#: What the error says, by composition and program.
REFUSED: dict[str, dict[str, str]] = {
    "vmap": {},
    "vmap(grad)": {},
    "grad(vmap)": {
        **dict.fromkeys(PUT_BACK, "writes to memory that both"),
        "containers.rows_of_rows": "may share memory with several arrays",
        "objects.objects_in_a_dict_changed": "may share memory with several arrays",
    },
    "vmap(vmap)": {},
    "jvp(vmap)": {},
    "vmap(jvp)": {},
}
