"""The view of a derivative: `srcjax.show`.

- `shown`: which functions of the user's stand on the left, and which lines of the text
  come from which of theirs.
- `names`: all uses of a name, and its adjoint.
- `tapes`: where the text puts something away, and where it takes it back.
- `runs`: the run of the example arguments, on both sides.
- `stages`: the stages of the translation.
- `html`: the page, from the files in `templates`.
"""
