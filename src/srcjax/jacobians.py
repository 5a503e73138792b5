"""`jacfwd`, `jacrev`, `hessian` and `hvp`: whole matrices of derivatives.

    def jacfwd_f(x):
        # Each column is the derivative along one element of x.
        columns = [jvp_f(x, x_dot)[1] for x_dot in np.eye(x.size)]
        return np.stack(columns, axis=-1)

The text is written for the types of the arguments; it is an ordinary function that
calls `jvp_f` (or `f_forward` and `f_backward`), and can be transformed again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import pipeline, runtime, syntax
from srcjax.analysis.types import (
    Array,
    Const,
    Dict,
    List,
    Object,
    Other,
    Tuple,
    Type,
    Unknown,
    dtype_of,
    has_complex,
    is_number,
    rank_of,
    shape_of,
)
from srcjax.api import grad
from srcjax.callables import Argnums, Transform, make_callable
from srcjax.errors import ArgumentError, UnsupportedError
from srcjax.forward_mode import jvp
from srcjax.pipeline import Module


class Unwritable(Exception):
    """The structure of a value is not known: helpers that look at it are called."""


class Jacobian(Transform):
    """`jacfwd` and `jacrev`."""

    def __init__(
        self,
        function: Callable,
        argnums: Argnums,
        has_aux: bool,
        name: str,
        inside: bool = False,
    ) -> None:
        self.name = name
        super().__init__(function, argnums)
        self.has_aux = has_aux
        #: Whether it is a part of another transform, and its name is not seen.
        self.inside = inside

    def build(self, types: list[Type], typed: bool) -> Module:
        self.check_arguments(types)
        request = self.request(types)
        writer: _Writer
        if self.name == "jacrev":
            module = pipeline.vjp(request, keep=True)
            self.check_value(self.value(module))
            if is_number(self.value(module)):
                # One row: the gradient.
                module = pipeline.gradient(
                    request, self.single, False, self.has_aux, typed
                )
                if not self.inside:
                    module.functions[-1].name = f"jacrev_{self.source.name}"
                    module.name = module.entry = module.functions[-1].name
                    module.print()
                return module
            writer = _Rows(self, module, types)
        else:
            module = pipeline.jvp(request)
            self.check_value(self.value(module))
            writer = _Columns(self, module, types)
        writer.write()
        module.print()
        return module

    def value(self, module: Module) -> Type:
        """The type of what is differentiated."""
        result = module.result
        if not self.has_aux:
            return result
        if isinstance(result, Tuple) and len(result.items) == 2:
            return result.items[0]
        if isinstance(result, Unknown):
            return result
        raise ArgumentError(
            f"with has_aux=True, {self.source.name} must return (value, aux)",
            instead="`return value, aux`",
        )

    def check_arguments(self, types: list[Type]) -> None:
        """A Jacobian has a real column (or row) for each element."""
        for name, t in zip(self.parameters, types, strict=True):
            if name in self.wrt and has_complex(t):
                raise ArgumentError(
                    f"argument `{name}` of {self.source.name} is complex; "
                    f"{self.name} needs real arguments",
                    instead="the real and the imaginary part as two arguments, or "
                    "`srcjax.vjp` or `srcjax.jvp`",
                )

    def check_value(self, value: Type) -> None:
        """Numbers that are no real numbers have no derivative."""
        try:
            found = _leaves(value, "")
        except Unwritable:
            return
        for path, t in found:
            dtype = dtype_of(t)
            constant = isinstance(t, Const) and type(t.value) in (int, float)
            if dtype is not None and dtype.kind != "f" and not constant:
                raise ArgumentError(
                    f"{self.source.name} returns {dtype.name}"
                    f"{' at ' + path if path else ''}; {self.name} needs real numbers",
                    instead="a float result, or has_aux=True for what goes along",
                )


# -- the text ----------------------------------------------------------------------


def _leaves(t: Type, path: str) -> list[tuple[str, Type]]:
    """The numbers and arrays in a value, as expressions. Raises Unwritable."""
    if isinstance(t, Const) and t.value is None:
        return []
    if is_number(t) or isinstance(t, Array):
        return [(path, t)]
    return [leaf for step, part in _parts(t) for leaf in _leaves(part, f"{path}{step}")]


def _parts(t: Type) -> list[tuple[str, Type]]:
    """The parts of a container, with what selects each."""
    if isinstance(t, (Tuple, List)) and t.items is not None:
        return [(f"[{i}]", part) for i, part in enumerate(t.items)]
    if isinstance(t, Dict) and t.items is not None:
        return [(f"[{key!r}]", part) for key, part in t.items]
    if isinstance(t, Object):
        return [(f".{key}", part) for key, part in t.items]
    raise Unwritable


class _Writer:
    """Writes the function that calls the derivative once for each element."""

    def __init__(self, transform: Jacobian, module: Module, types: list[Type]) -> None:
        self.transform = transform
        self.module = module
        self.types = dict(zip(transform.parameters, types, strict=True))
        self.value = transform.value(module)
        self.entry = f"{transform.name}_{transform.source.name}"
        self.clear()

    def clear(self) -> None:
        """Start with no text."""
        functions = {f.name for f in self.module.functions}
        taken = functions | set(self.types) | set(self.module.values)
        self.names = syntax.Names(taken | {"np", self.entry})
        self.lines: list[str] = []

    def write(self) -> None:
        """Add the function to the module."""
        module = self.module
        try:
            result = self.known()
        except Unwritable:
            self.clear()
            result = self.unknown()
        body = "\n".join(f"    {line}" for line in [*self.lines, f"return {result}"])
        text = f"def {self.entry}():\n{body}\n"
        node: Any = syntax.statements(text)[0]
        node.args = self.parameters()
        for i, stmt in enumerate(node.body):
            value = getattr(stmt, "value", None)
            if isinstance(value, gast.Constant) and isinstance(value.value, str):
                node.body[i] = syntax.comment(value.value[2:])
        for helper in ("unit_tangents", "stack_columns", "stack_rows"):
            if helper in syntax.names_read(node):
                module.values[helper] = getattr(runtime, helper)
        module.values["np"] = np
        module.functions = [*module.functions, node]
        module.name = module.entry = self.entry

    def known(self) -> str:
        raise NotImplementedError

    def unknown(self) -> str:
        raise NotImplementedError

    def line(self, text: str) -> None:
        self.lines.append(text)

    def comment(self, text: str) -> None:
        self.line(repr(f"# {text}"))

    # -- calls ----------------------------------------------------------------------

    def parameters(self) -> gast.arguments:
        """The user's parameters."""
        raise NotImplementedError

    def user_arguments(self) -> list[str]:
        """The user's parameters, passed on."""
        arguments = self.parameters()
        found = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
        if arguments.vararg is not None:
            found.append(f"*{arguments.vararg.id}")
        found += [f"{a.id}={a.id}" for a in arguments.kwonlyargs]
        if arguments.kwarg is not None:
            found.append(f"**{arguments.kwarg.id}")
        return found

    # -- values ---------------------------------------------------------------------

    def basis(self, path: str, t: Type) -> str:
        """Arrays like `path` with a one in one place each."""
        dtype = dtype_of(t)
        given = "" if dtype == np.dtype(float) else f", dtype={path}.dtype"
        rows = f"np.eye({path}.size{given})"
        if rank_of(t) == 1:
            return rows
        return f"{rows}.reshape({path}.size, *{path}.shape)"

    def zero(self, path: str, t: Type) -> str:
        """The zero tangent of a value. Raises Unwritable."""
        if is_number(t):
            return "0.0"
        if isinstance(t, (Const, Other)):
            return "None"
        if isinstance(t, Array):
            return f"np.zeros_like({path})"
        if not _is_container(t):
            raise Unwritable
        return self.rebuilt(t, {}, path)

    def rebuilt(self, t: Type, given: dict[str, str], path: str) -> str:
        """The value at `path` made of expressions by path, zeros elsewhere."""
        if path in given:
            return given[path]
        if not _is_container(t):
            return self.zero(path, t)
        items = [self.rebuilt(p, given, f"{path}{step}") for step, p in _parts(t)]
        return self.display(t, items)

    def display(self, t: Type, items: list[str]) -> str:
        """A container like `t` with these items."""
        joined = ", ".join(items)
        if isinstance(t, List):
            return f"({joined},)" if t.cls is tuple else f"[{joined}]"
        if isinstance(t, Dict):
            keys = [repr(k) for k, _ in t.items or ()]
            return "{" + ", ".join(map(": ".join, zip(keys, items, strict=True))) + "}"
        cls = t.cls  # type: ignore[attr-defined]
        if cls is not None:
            name = cls.__name__
            self.module.values[name] = cls
            if isinstance(t, Object):
                keys = [k for k, _ in t.items]
                joined = ", ".join(map("=".join, zip(keys, items, strict=True)))
            return f"{name}({joined})"
        return f"({joined},)" if len(items) == 1 else f"({joined})"


def _identifier(path: str) -> str:
    """A part of a name for `params["w"]`."""
    base = "".join(c if c.isalnum() else "_" for c in path).strip("_")
    while "__" in base:
        base = base.replace("__", "_")
    return base


def _shape(path: str, t: Type) -> str:
    return f"{path}.shape" if isinstance(t, Array) else f"np.shape({path})"


def _is_container(t: Type) -> bool:
    return isinstance(t, (Tuple, List, Dict, Object))


class _Columns(_Writer):
    """`jacfwd`: a pushforward along each element of the arguments."""

    def parameters(self) -> gast.arguments:
        arguments = syntax.clone(self.module.functions[-1].args)
        if self.module.entry == self.entry:  # already added
            return arguments
        count = len(self.transform.wrt)
        if self.by_position:
            arguments.args = arguments.args[:-count]
        else:
            arguments.kwonlyargs = arguments.kwonlyargs[:-count]
            arguments.kw_defaults = arguments.kw_defaults[:-count]
        return arguments

    @property
    def by_position(self) -> bool:
        """Whether tangents follow the arguments by position."""
        names = self.module.functions[-1].args.kwonlyargs
        return not names

    def pushed(self, dots: dict[str, str]) -> str:
        """The call with these tangents of the arguments."""
        function = self.module.functions[-1]
        arguments = function.args
        last = arguments.args if self.by_position else arguments.kwonlyargs
        names = [a.id for a in last[-len(self.transform.wrt) :]]
        values = [dots[n] for n in self.transform.wrt]
        if not self.by_position:
            values = list(map("=".join, zip(names, values, strict=True)))
        return f"{function.name}({', '.join([*self.user_arguments(), *values])})"

    def known(self) -> str:
        outputs = _leaves(self.value, "")
        transform = self.transform
        inside = "[0]" if transform.has_aux else ""
        wrt = {n: self.types[n] for n in transform.wrt}
        leaves = [leaf for n in wrt for leaf in _leaves(wrt[n], n)]
        #: For each output, the block of each input by its path.
        blocks: list[dict[str, str]] = [{} for _ in outputs]
        aux = ""
        for path, t in leaves:
            number = is_number(t) or shape_of(t) == ()
            empty = 0 in (shape_of(t) or ())
            base = _identifier(path)
            dot = self.names.fresh(f"{base}_dot")
            kind = "column" if number or empty else "columns"
            value = self.names.fresh(kind if len(leaves) == 1 else f"{kind}_{base}")
            moved = dot
            if number:
                moved = "1.0" if is_number(t) else f"np.ones_like({path})"
            elif empty:
                moved = f"np.zeros_like({path})"
            dots = {n: self.rebuilt(wrt[n], {path: moved}, n) for n in wrt}
            call = self.pushed(dots)
            if number or empty:
                self.line(f"{value} = {call}")
                aux = aux or f"{value}[0][1]"
                for block, (out, u) in zip(blocks, outputs, strict=True):
                    block[path] = f"{value}[1]{inside}{out}"
                    if empty:
                        shape = f"{_shape(block[path], u)} + {path}.shape"
                        block[path] = f"np.zeros({shape})"
                continue
            if not any(line.startswith("'#") for line in self.lines):
                self.comment(
                    f"Each column: the derivative along one element of {path}."
                )
            part = "" if transform.has_aux else "[1]"
            self.line(f"{value} = [{call}{part} for {dot} in {self.basis(path, t)}]")
            aux = aux or f"{value}[0][0][1]"
            for block, (out, u) in zip(blocks, outputs, strict=True):
                step = f"[1][0]{out}" if transform.has_aux else out
                block[path] = self.stacked(value, step, path, t, u)
        jacobian = self.assembled(outputs, blocks, wrt)
        return f"{jacobian}, {aux}" if transform.has_aux else jacobian

    def stacked(self, value: str, step: str, path: str, t: Type, u: Type) -> str:
        """The block of an output and an input from its columns."""
        items = f"[column{step} for column in {value}]" if step else value
        rank, own = rank_of(u), rank_of(t)
        if rank == 0:
            whole = f"np.stack({items})"
            return whole if own == 1 else f"{whole}.reshape({path}.shape)"
        whole = f"np.stack({items}, axis=-1)"
        if own == 1:
            return whole
        shape = f"{_shape(f'{value}[0]{step}', u)} + {path}.shape"
        return f"{whole}.reshape({shape})"

    def assembled(
        self,
        outputs: list[tuple[str, Type]],
        blocks: list[dict[str, str]],
        wrt: dict[str, Type],
    ) -> str:
        """The structure of the output with that of the inputs at each leaf."""
        found: dict[str, str] = {}
        for (out, _), block in zip(outputs, blocks, strict=True):
            parts = [self.rebuilt(wrt[n], block, n) for n in wrt]
            single = self.transform.single
            whole = parts[0] if single else self.display(Tuple(), parts)
            found[out] = whole
        return self.rebuilt(self.value, found, "")

    def unknown(self) -> str:
        if self.transform.has_aux or not self.transform.single:
            raise _needs_examples(self.transform)
        (name,) = self.transform.wrt
        dot, columns = self.names.fresh(f"{name}_dot"), self.names.fresh("columns")
        call = self.pushed({name: dot})
        self.comment(f"Each column: the derivative along one element of {name}.")
        self.line(f"{columns} = [{call}[1] for {dot} in unit_tangents({name})]")
        return f"stack_columns({columns}, {name})"


class _Rows(_Writer):
    """`jacrev`: a pullback of each element of the result."""

    def parameters(self) -> gast.arguments:
        function = next(f for f in self.module.functions if f.name == self.module.entry)
        return syntax.clone(function.args)

    def forward(self, y: str, saved: str) -> None:
        called = self.parameters_call(self.module.entry)
        self.line(f"{y}, {saved} = {called}")

    def residuals(self, saved: str) -> str:
        """What was saved; anew for each row if the backward sweep writes to it."""
        if not self.module.restores:
            return saved
        return f"{self.parameters_call(self.module.functions[-2].name)}[1]"

    def parameters_call(self, name: str) -> str:
        return f"{name}({', '.join(self.user_arguments())})"

    def known(self) -> str:
        transform, wrt = self.transform, self.transform.wrt
        backward = self.module.functions[-1].name
        y, saved = self.names.fresh("y"), self.names.fresh("saved")
        aux = self.names.fresh("aux") if transform.has_aux else ""
        self.forward(f"({y}, {aux})" if aux else y, saved)
        outputs = _leaves(self.value, y)
        inputs = {n: _leaves(self.types[n], n) for n in wrt}
        result: Any = self.module.result
        found: dict[str, str] = {}
        for path, u in outputs:
            base = _identifier(path)
            number = is_number(u) or shape_of(u) == ()
            dy = self.names.fresh(f"d{base}")
            kind = "row" if number else "rows"
            rows = self.names.fresh(kind if len(outputs) == 1 else f"{kind}_{base}")
            moved = dy
            if number:
                moved = "1.0" if is_number(u) else f"np.ones_like({path})"
            seed = self.rebuilt(self.value, {path: moved}, y)
            if aux:
                seed = f"({seed}, {self.zero(aux, result.items[1])})"
            call = f"{backward}({self.residuals(saved)}, {seed})"
            if number:
                self.line(f"{rows} = {call}")
            else:
                if not any(line.startswith("'#") for line in self.lines):
                    self.comment(f"Each row: the derivative of one element of {path}.")
                basis = self.basis(path, u)
                self.line(f"{rows} = [{call} for {dy} in {basis}]")
            found[path] = self.blocks(rows, path, u, number, inputs)
        jacobian = self.rebuilt(self.value, found, y)
        return f"{jacobian}, {aux}" if aux else jacobian

    def blocks(
        self,
        rows: str,
        path: str,
        u: Type,
        number: bool,
        inputs: dict[str, list[tuple[str, Type]]],
    ) -> str:
        """What stands for an output: its blocks in the structure of the inputs."""
        wrt = self.transform.wrt
        parts = []
        for i, name in enumerate(wrt):
            block: dict[str, str] = {}
            for leaf, t in inputs[name]:
                step = (f"[{i}]" if len(wrt) > 1 else "") + leaf[len(name) :]
                if number:
                    block[leaf] = f"{rows}{step}"
                    continue
                items = f"[row{step} for row in {rows}]" if step else rows
                empty = 0 in (shape_of(u) or ())
                shape = f"{path}.shape + {_shape(leaf, t)}"
                whole = f"np.stack({items})"
                if empty:
                    whole = f"np.zeros({shape})"
                elif rank_of(u) != 1:
                    own = f"{path}.shape" if rank_of(t) == 0 else shape
                    whole = f"{whole}.reshape({own})"
                block[leaf] = whole
            parts.append(self.rebuilt(self.types[name], block, name))
        return parts[0] if self.transform.single else self.display(Tuple(), parts)

    def unknown(self) -> str:
        if self.transform.has_aux:
            raise _needs_examples(self.transform)
        backward = self.module.functions[-1].name
        y, saved = self.names.fresh("y"), self.names.fresh("saved")
        rows, dy = self.names.fresh("rows"), self.names.fresh("dy")
        self.forward(y, saved)
        self.comment("Each row: the derivative of one element of the result.")
        call = f"{backward}({self.residuals(saved)}, {dy})"
        self.line(f"{rows} = [{call} for {dy} in unit_tangents({y})]")
        return f"stack_rows({rows}, {y})"


def _needs_examples(transform: Jacobian) -> Exception:
    return UnsupportedError(
        f"the types of the arguments of {transform.source.name} do not tell the "
        f"structure that {transform.name} needs",
        instead="arguments with a known number of items",
    )


# -- what users call ---------------------------------------------------------------


def _decorator(make: Callable[[Callable], Callable], f: Callable | None) -> Any:
    return make if f is None else make(f)


def jacfwd(
    f: Callable | None = None, argnums: Argnums = 0, has_aux: bool = False
) -> Any:
    """The Jacobian of a function, column by column (forward mode).

    Args:
        f: a Python function of NumPy values; its result may be a pytree.
        argnums: position or name of the argument to differentiate with respect to;
            a tuple of them gives a tuple. The arguments may be pytrees.
        has_aux: `f` returns `(value, aux)`, and the result is `(jacobian, aux)`.

    Returns:
        A function of the same arguments. Its result has the structure of that of `f`,
        with the structure of the argument in place of each leaf: for an output of shape
        `s` and an input of shape `t`, an array of shape `s + t`. Without `f`, a
        decorator.

    Cheaper than `jacrev` where there are fewer inputs than outputs.
    """
    return _decorator(
        lambda g: make_callable(Jacobian(g, argnums, has_aux, "jacfwd")), f
    )


def jacrev(
    f: Callable | None = None, argnums: Argnums = 0, has_aux: bool = False
) -> Any:
    """The Jacobian of a function, row by row (reverse mode); like `jacfwd`."""
    return _decorator(
        lambda g: make_callable(Jacobian(g, argnums, has_aux, "jacrev")), f
    )


def hessian(
    f: Callable | None = None, argnums: Argnums = 0, has_aux: bool = False
) -> Any:
    """The matrix of second derivatives: `jacfwd` of `jacrev`.

    Returns:
        A function of the same arguments. For a result of shape `s` and an argument of
        shape `t`, an array of shape `s + t + t`; with pytrees, the structure of the
        argument twice. With `has_aux`, `(hessian, aux)`.
    """

    def make(g: Callable) -> Callable:
        first = make_callable(Jacobian(g, argnums, has_aux, "jacrev", True))
        return make_callable(Jacobian(first, argnums, has_aux, "hessian"))

    return _decorator(make, f)


for _maker in (jacfwd, jacrev, hessian):
    _maker.__srcjax_maker__ = True  # type: ignore[attr-defined]


def hvp(f: Callable, primals: Any, tangents: Any) -> Any:
    """The Hessian of `f` times a vector, without the matrix: forward over reverse.

    Args:
        f: a function that returns one real number.
        primals: a tuple with the arguments of `f`.
        tangents: a tuple with a tangent for each; None for an argument to hold
            constant.

    Returns:
        The change of the gradient in that direction: of the structure of the argument
        for one primal, a tuple of them for several.
    """
    argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(_gradient_of(f, argnums), primals, tangents)[1]


_GRADIENTS: dict[Any, tuple[Any, Callable]] = {}


def _gradient_of(f: Callable, argnums: Argnums) -> Callable:
    """`grad(f, argnums)`, kept while `f` is the same function: made again, it would be
    transformed again."""
    key = (id(f), argnums)
    known = _GRADIENTS.get(key)
    if known is not None and known[0] is f:
        return known[1]
    if len(_GRADIENTS) > 512:
        _GRADIENTS.clear()
    gradient = grad(f, argnums)
    _GRADIENTS[key] = (f, gradient)
    return gradient


#: Inside differentiated code it is what `grad` is.
_gradient_of.__srcjax_maker__ = True  # type: ignore[attr-defined]


__all__ = ["hessian", "hvp", "jacfwd", "jacrev"]
