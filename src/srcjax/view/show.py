"""`show`: a function and its derivative, to be read and stepped through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from srcjax.api.options import boundary
from srcjax.api.reverse import Source
from srcjax.backends.marks import transform_of
from srcjax.checks.first_call import unchecked
from srcjax.checks.outcomes import copied, quiet
from srcjax.frontend.stage_texts import recording
from srcjax.teaching.trace import run_noted
from srcjax.versions import shapes
from srcjax.view.runs import Played, played, users_run
from srcjax.view.shown import Finder, Sides, sides_of
from srcjax.view.stages import Stage, stages_of


class View:
    """A function beside its derivative: a notebook shows it, `save` writes a page.

    - `name`: of the derivative. `text`: the generated text.
    - `html()`: what a notebook shows, as one piece of HTML that needs no other file.
    - `page()`: the same as a whole page. `save(path)` writes it.
    """

    def __init__(
        self,
        name: str,
        text: Source,
        sides: Sides,
        stages: list[Stage],
        run: Played | None,
    ) -> None:
        self.name, self.text = name, text
        self.sides, self.stages, self.run = sides, stages, run

    def html(self) -> str:
        """The view as HTML for a notebook or a page of one's own."""
        from srcjax.view.html import as_html

        return as_html(self)

    def page(self) -> str:
        """A whole page, light or dark as the system is set."""
        from srcjax.beside.html import page

        return page(self.name, self.html())

    def save(self, path: str | Path) -> None:
        """Write the page. Raises OSError where the file cannot be written."""
        Path(path).write_text(self.page(), encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.html()

    def __repr__(self) -> str:
        """The text, as a prompt shows it."""
        return repr(self.text)


@boundary
def show(df: Callable, *args: Any, **kwargs: Any) -> View:
    """A view of a derivative: the function on the left, what srcjax wrote on the right.

    Lines of both sides that belong together are outlined when one of them is pointed
    at, with the rule of calculus behind them; of a name all uses are, and its adjoint.
    The forward sweep has a blue edge, the backward sweep a red one (tangents of forward
    mode a violet one), and a bracket ties what is put on a tape to where it is taken
    off. With arguments, a slider goes through their run, statement by statement: the
    line is lit on both sides, with the values of names beside it, loop iterations as
    columns; of a batch, the examples are the columns on the left. Another slider goes
    through the stages of the translation.

    The sliders and the lines can be reached with the keyboard, and without scripts
    (where a page shows none) all lines, numbers, edges and values are there.

    **Arguments**

    - `df`: what a transform gave, such as `srcjax.grad(f)` or `srcjax.jit(f)`.
    - `args`, `kwargs`: what to run it with (on copies); `jvp(f)` takes primals and
        tangents. Shapes may be given by name instead (`show(df, x="m n")`), as
        `source` takes them: nothing is run then, nor without arguments.

    **Returns**

    A `View`: notebooks show it, `save(path)` writes a page that needs no other file.

    **Raises**

    - `ArgumentError`: `df` was not made by srcjax, or the arguments do not fit.

    >>> def square(x):
    ...     return x * x
    >>> view = srcjax.show(srcjax.grad(square), 3.0)
    >>> view.name, view.run.result, "<script>" in view.html()
    ('grad_square', '6.0', True)
    """
    transform = transform_of(df, "show(srcjax.grad(f), x)")
    with unchecked(), quiet():
        if _is_to_run(transform, args, kwargs):
            return _of_run(transform, args, kwargs)
        with recording():
            module = transform.module_to_read(args, kwargs)
        return View(
            module.entry,
            Source(module.text, transform.source.text),
            sides_of(Finder(transform), module),
            stages_of(module),
            None,
        )


def _is_to_run(transform: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether there are arguments, and not only their shapes."""
    if not args and not kwargs:
        return not transform.parameters
    examples, _ = shapes.examples_of(transform, args, kwargs)
    return not examples.called


def _of_run(transform: Any, args: tuple, kwargs: dict[str, Any]) -> View:
    own, named = copied((args, kwargs))
    result, steps, run = run_noted(transform, own, named)
    finder = Finder(transform)
    sides = sides_of(finder, run.module)
    users = users_run(transform, sides, finder, args, kwargs)
    return View(
        run.module.entry,
        Source(run.module.text, transform.source.text),
        sides,
        stages_of(run.module),
        played(sides, steps, run.arguments, result, users, run.dropped),
    )


__all__ = ["View", "show"]
