"""Make generated code what a person would have written.

- `dead`: remove what nothing reads
- `delay`: overwrite adjoints late, so that they need no copies
- `nest`: put single-use temporaries back into the expression that uses them
- `algebra` (beside this package): no `x + 0`, no `1.0 * x`
- `factors`: what a product multiplies by and divides by
- `spell_out`: write cheap temporaries out where they are read
- `updates`: join what is added to one adjoint
- `rotate`, `last_iteration`: leave out what the ends of a loop do not need
- `plain`: expressions in the words a person would use
- `tidying`: the same, as far as types tell
- `comments`: quote the user's lines
- `coalesce`: give values of one variable its one name again
- `sugar`: loops over items instead of indices
- `owned`: results that share no memory with arguments, globals or each other
- `sharing`: what calls of generated functions may share memory with
"""
