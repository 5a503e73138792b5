"""Make generated code what a person would have written.

- `dead`: remove what nothing reads
- `nest`: put single-use temporaries back into the expression that uses them
- `algebra` (beside this package): no `x + 0`, no `1.0 * x`
- `coalesce`: give values of one variable its one name again
- `sugar`: loops over items instead of indices
- `owned`: results that share no memory with arguments or each other
"""
