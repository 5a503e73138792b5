"""Calls of NumPy's universal functions with keywords, and of their methods."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import _generated, syntax
from srcjax.frontend.lowering import LoweringBase
from srcjax.frontend.unit import parameter_names
from srcjax.ops.patched import is_users


def _defined_in(function: Any) -> set[str]:
    """The names of functions that are defined in the one at hand."""
    nodes = list(syntax.walk(function.body))
    named = {n.name for n in nodes if isinstance(n, gast.FunctionDef)}
    assigned = [n for n in nodes if isinstance(n, gast.Assign)]
    lambdas = [n for n in assigned if isinstance(n.value, gast.Lambda)]
    return named | {t.id for n in lambdas for t in n.targets if hasattr(t, "id")}


class UfuncCalls(LoweringBase):
    """Lowers `np.exp(x, where=m, out=y)`, `np.add.reduce(x)` to plain calls."""

    def out_argument(self, node: gast.Call) -> gast.expr:
        """`np.add(a, b, out=c)` is `c[...] = np.add(a, b)`, unless `c` is None."""
        out = next((k for k in node.keywords if k.arg == "out"), None)
        if out is None or self.is_own_out(node.func):
            return node
        target = out.value
        if isinstance(target, gast.Tuple):
            return node
        if isinstance(target, gast.Constant) and target.value is None:
            node.keywords.remove(out)
            return node
        if not isinstance(target, gast.Name):
            target = self.temp(target, "out")
            self.varying.names.add(target.id)
        if target.id not in self.there and self.may_be_none(target.id):
            out.value = target
            id = self.new_temp("value")
            self.bind_out(syntax.name(id, store=True), node, target.id)
            return syntax.name(id)
        rest = [k for k in node.keywords if k.arg != "out"]
        call = gast.Call(node.func, node.args, rest)
        call.took_out = True
        value = self.temp(call)
        whole = gast.Subscript(target, syntax.const(...), None)
        stored = syntax.assign(whole, value)
        stored.same_kind = True
        self.emit(stored)
        return target

    def missing_out(self, call: gast.expr) -> str:
        """The name after `out=` of what may be None; "" if there is none."""
        if not isinstance(call, gast.Call) or self.is_own_out(call.func):
            return ""
        out = next((k.value for k in call.keywords if k.arg == "out"), None)
        name = out.id if isinstance(out, gast.Name) else ""
        return name if name not in self.there and self.may_be_none(name) else ""

    def may_be_none(self, name: str) -> bool:
        """Whether an array that is named for a result may be missing.

        Not where all that the function gives the name is made by a call or an operator.
        """
        values = [
            stmt.value
            for stmt in syntax.walk(self.source.node.body)
            if isinstance(stmt, gast.Assign)
            and any(syntax.is_name(target, name) for target in stmt.targets)
        ]
        parameters = parameter_names(self.source.node.args)
        made = all(isinstance(value, (gast.Call, gast.BinOp)) for value in values)
        return name in parameters or not values or not made

    def is_own_out(self, function: gast.expr) -> bool:
        """Whether a user's function is called, which may mean anything by `out`.

        So may what a transform made of one: the text of a derivative is read again.
        """
        called = self.varying.value(function)
        if called is not None:
            return is_users(called) or _generated.holds(called)
        if isinstance(function, gast.Name):
            return function.id in _defined_in(self.source.node)
        return isinstance(function, gast.Attribute) and not hasattr(
            np.ndarray, function.attr
        )

    def ufunc_call(self, node: gast.Call, ufunc: Any) -> gast.expr:
        """A ufunc with `dtype=`, `where=` or an `out` by position, in plain NumPy.

        np.exp(x, dtype=t)              np.exp(np.asarray(x, dtype=t))
        np.exp(x, where=m, out=y)       y[m] = np.exp(x[m])
        np.exp(x, y)                    np.exp(x, out=y)
        """
        if any(isinstance(a, gast.Starred) for a in node.args):
            return node
        options = {k.arg: k.value for k in node.keywords}
        if len(node.args) == ufunc.nin + 1 and ufunc.nout == 1:
            options["out"] = node.args.pop()
        dtype = options.pop("dtype", syntax.const(None))
        if not isinstance(dtype, gast.Constant) or dtype.value is not None:
            for i, argument in enumerate(node.args):
                if not isinstance(argument, gast.Constant):
                    text = "np.asarray(a, dtype=t)"
                    cast = syntax.expression(text, a=argument, t=dtype)
                    node.args[i] = self.temp(cast)
        where = options.pop("where", syntax.const(True))
        node.keywords = [gast.keyword(k, v) for k, v in options.items()]
        if isinstance(where, gast.Constant) and where.value is True:
            return self.out_argument(node)
        out = options.pop("out", None)
        if out is None or not isinstance(out, (gast.Name, gast.Call)) or options:
            raise self.refuse(
                node,
                "`where=` without `out=`: the other entries have no value",
                "`out=`, or `np.where` around the call",
            )
        if not isinstance(out, gast.Name):
            out = self.temp(out, "out")
            self.varying.names.add(out.id)
        # Only the entries that are kept: others may be out of the function's domain.
        shape = self.temp(syntax.expression("np.shape(out)", out=out), "shape")
        holds = syntax.expression("np.asarray(w, dtype=bool)", w=where)
        mask = self.temp(
            syntax.expression("np.broadcast_to(w, s)", w=self.temp(holds), s=shape),
            "mask",
        )
        for i, argument in enumerate(node.args):
            if isinstance(argument, gast.Constant):
                continue
            name = argument.id if isinstance(argument, gast.Name) else None
            whole = self.temp(
                syntax.expression("np.broadcast_to(a, s)", a=argument, s=shape),
                name and f"{name}_broadcast",
            )
            part = syntax.expression("a[m]", a=whole, m=mask)
            node.args[i] = self.temp(part, name and f"{name}_part")
        node.keywords = []
        value = self.temp(node)
        stored = syntax.assign(syntax.expression("out[m]", out=out, m=mask), value)
        stored.same_kind = True
        self.emit(stored)
        return out

    def ufunc_method(self, node: gast.Call, value: Any) -> gast.expr | None:
        """`np.add.reduce(a)` is `np.sum(a, axis=0)`, and so on."""
        chain = syntax.dotted(node.func) or ""
        ufunc, _, method = chain.rpartition(".")
        if not isinstance(getattr(value, "__self__", None), np.ufunc) or not ufunc:
            return None
        base = ufunc.rpartition(".")[0] or "np"  # of `from numpy import add`
        name = _REDUCTIONS.get((value.__self__, method))
        if name is not None:
            new = gast.Call(syntax.expression(f"{base}.{name}"), node.args[:2], [])
            further = zip(_AFTER_AXIS, node.args[2:], strict=False)
            new.keywords = [gast.keyword(k, v) for k, v in further if not _is_none(v)]
            new.keywords += node.keywords
            given = {k.arg for k in new.keywords}
            if len(node.args) == 1 and "axis" not in given:
                new.keywords.append(gast.keyword("axis", syntax.const(0)))
            return gast.copy_location(new, node)
        if method == "outer" and len(node.args) == 2 and not node.keywords:
            left, right = self.atoms(node.args)
            shape = f"{base}.shape(a) + (1,) * {base}.ndim(b)"
            text = f"{ufunc}({base}.reshape(a, {shape}), {base}.asarray(b))"
            new = syntax.expression(text, a=left, b=right)
            return gast.copy_location(new, node)
        return None


def unwrap_out(node: gast.Call) -> None:
    """`out=(y,)` is `out=y`."""
    for keyword in node.keywords:
        value = keyword.value
        if keyword.arg == "out" and isinstance(value, gast.Tuple):
            keyword.value = value.elts[0] if len(value.elts) == 1 else value


#: What a method of a ufunc stands for.
_REDUCTIONS = {
    (np.add, "reduce"): "sum",
    (np.multiply, "reduce"): "prod",
    (np.maximum, "reduce"): "max",
    (np.minimum, "reduce"): "min",
    (np.logical_and, "reduce"): "all",
    (np.logical_or, "reduce"): "any",
    (np.add, "accumulate"): "cumsum",
    (np.multiply, "accumulate"): "cumprod",
}
#: The parameters of `ufunc.reduce` after the array and the axis, in order.
_AFTER_AXIS = ("dtype", "out", "keepdims", "initial", "where")


def _is_none(node: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value is None
