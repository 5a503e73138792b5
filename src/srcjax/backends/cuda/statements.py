"""Statements of kernels in C++."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.analysis.flow.liveness import After
from srcjax.backends.cuda.expressions import Expressions, Range, affine
from srcjax.backends.cuda.kinds import Elements, Kinds, NotCuda, Tape, items_of
from srcjax.backends.cuda.sizes import Sizes, is_size

Lines = list[str]


class Statements:
    """Writes statements as one thread runs them."""

    def __init__(
        self, kinds: Kinds, sizes: Sizes, after: After, checked: bool, may_return: bool
    ) -> None:
        self.kinds = kinds
        self.sizes = sizes
        self.after = after
        self.expressions = Expressions(kinds, checked, sizes.of)
        #: Whether a thread may leave the kernel alone: others do not wait for it.
        self.may_return = may_return
        #: How it leaves.
        self.leaves = "return;"
        #: Lists of the thread.
        self.tapes: dict[str, str] = {}
        #: The user's line that was quoted last.
        self.line: Any = None

    # -- blocks ----------------------------------------------------------------------

    def block(self, stmts: list[Any], own: set[str]) -> Lines:
        """The lines of a block that declares the names `own`, or a block inside."""
        out: Lines = []
        places = {n: self.mentions(stmts, n) for n in own}
        deeper = {
            name: at[0]
            for name, at in places.items()
            if len(at) == 1 and self.is_inside(stmts[at[0]], name)
        }
        declared: set[str] = {n for n in own if not places[n]}
        for k, stmt in enumerate(stmts):
            first = [
                n for n in sorted(own - declared - set(deeper)) if places[n][0] == k
            ]
            inner = {n for n, at in deeper.items() if at == k}
            declared |= set(first)
            if syntax.is_comment(stmt):
                continue
            out += self.quoted(stmt)
            here = self.declared_here(stmt, first)
            for name in first:
                if name != here and not self.is_counter(stmts, name):
                    out.append(self.declaration(name))
            out += self.statement(stmt, inner, here)
        return out

    def quoted(self, stmt: Any) -> Lines:
        """The user's line, where it is not the one before."""
        where = getattr(stmt, "user_line", None)
        if where is None or where == self.line or not isinstance(stmt, gast.Assign):
            return []
        if isinstance(stmt.value, (gast.List, gast.Constant)):
            return []
        self.line = where
        text = where[2].strip().rstrip("\\")
        return [f"// {text}"] if text.isascii() and text else []

    def mentions(self, stmts: list[Any], name: str) -> list[int]:
        return [k for k, s in enumerate(stmts) if name in syntax.all_names(s)]

    def is_inside(self, stmt: Any, name: str) -> bool:
        """Whether a name is only used in one block of a statement, anew each time."""
        blocks = [b for b in syntax.inner_blocks(stmt) if name in syntax.all_names(b)]
        if len(blocks) != 1 or name in syntax.all_names(syntax.head(stmt)):
            return False
        loop = isinstance(stmt, (gast.For, gast.While))
        return not (loop and name in exposed(blocks[0]))

    def is_counter(self, stmts: list[Any], name: str) -> bool:
        """Whether loops declare a name, and nobody else has it."""
        loops = [
            s
            for s in syntax.walk(stmts)
            if isinstance(s, gast.For) and syntax.is_name(s.target, name)
        ]
        return bool(loops) and not any(map(self.is_kept, loops))

    def is_kept(self, loop: gast.For) -> bool:
        """Whether the variable of a loop is more than the counter of it."""
        var = loop.target.id
        return var in syntax.names_written(loop.body) or var in self.after.live(loop)

    def declared_here(self, stmt: Any, first: list[str]) -> str:
        """The name that an assignment declares."""
        if not isinstance(stmt, gast.Assign) or not isinstance(
            stmt.targets[0], gast.Name
        ):
            return ""
        name: str = stmt.targets[0].id
        if name in first and name not in syntax.names_read(stmt.value):
            return name
        return ""

    def declaration(self, name: str) -> str:
        kind = self.kinds.of[name]
        if not isinstance(kind, str):
            raise NotCuda(f"`{name}` is an array or a list in a branch or a loop")
        zero = "false" if kind == "bool" else "0"
        return f"{kind} {self.expressions.name(name)} = {zero};"

    # -- statements ------------------------------------------------------------------

    def statement(self, stmt: Any, inner: set[str], here: str) -> Lines:
        if isinstance(stmt, gast.Assign):
            return self.assign(stmt, here)
        if isinstance(stmt, gast.For):
            return self.of_for(stmt, inner)
        if isinstance(stmt, gast.While):
            test = self.expressions.text(stmt.test, "bool")
            return self.braced(f"while ({test})", self.block(stmt.body, inner))
        if isinstance(stmt, gast.If):
            return self.of_if(stmt, inner)
        if isinstance(stmt, gast.Break):
            return ["break;"]
        if isinstance(stmt, gast.Pass):
            return []
        if isinstance(stmt, gast.Raise):
            return self.leave("DIFFERS") if is_differs(stmt) else self.refuse(stmt)
        if isinstance(stmt, gast.Expr):
            return self.append(stmt.value)
        return self.refuse(stmt)

    def refuse(self, stmt: Any) -> Lines:
        raise NotCuda(f"`{syntax.text(stmt).splitlines()[0]}` in a kernel")

    def leave(self, why: str) -> Lines:
        """Tell what is wrong, and go on no further."""
        self.expressions.tells = True
        told = f"atomicOr(status, {why});"
        return [told, self.leaves] if self.may_return else [told]

    def of_if(self, stmt: gast.If, inner: set[str]) -> Lines:
        test = self.expressions.text(stmt.test, "bool")
        names = [
            {n for n in inner if n in syntax.all_names(b)}
            for b in (stmt.body, stmt.orelse)
        ]
        line = self.line
        body = self.block(stmt.body, names[0])
        out = self.braced(f"if ({test})", body)
        if stmt.orelse:
            self.line = line
            out[-1] += " else {"
            out += [f"    {s}" for s in self.block(stmt.orelse, names[1])] + ["}"]
        return out

    def braced(self, head: str, body: Lines) -> Lines:
        return [f"{head} {{", *(f"    {s}" for s in body), "}"]

    def append(self, call: Any) -> Lines:
        """`tape.append(v)`."""
        if (
            not isinstance(call, gast.Call)
            or not isinstance(call.func, gast.Attribute)
            or call.func.attr != "append"
        ):
            raise NotCuda(f"`{syntax.text(call)}` in a kernel")
        name = call.func.value.id
        of = self.tapes.get(name, "")
        if not of or not self.may_return:
            raise NotCuda(f"`{name}` is a list that lives longer than a thread")
        value = self.expressions.text(call.args[0], of)
        test = f"if (!{self.expressions.name(name)}.append({value}))"
        return self.braced(test, self.leave("TAPE_IS_FULL"))

    def assign(self, stmt: gast.Assign, here: str) -> Lines:
        (target,) = stmt.targets
        if isinstance(target, gast.Tuple):
            return self.exchanged(target, stmt.value)
        if isinstance(target, gast.Subscript):
            return self.store(target, stmt.value)
        kind = self.kinds.of[target.id]
        name = self.expressions.name(target.id)
        if isinstance(kind, Tape):
            return self.tape(target.id, name, kind, stmt.value, here)
        if isinstance(kind, Elements):
            return [self.view(target.id, name, kind, stmt.value, here)]
        value = self.expressions.text(stmt.value, kind)
        return [f"{kind} {name} = {value};" if here else f"{name} = {value};"]

    def tape(self, own: str, name: str, kind: Tape, value: Any, here: str) -> Lines:
        if not here or not isinstance(value, gast.List) or not kind.of:
            raise NotCuda(f"the list `{own}` is not made once for each thread")
        self.tapes[own] = kind.of
        return [f"tape<{kind.of}> {name}({name}_memory, thread());"]

    def view(self, own: str, name: str, kind: Elements, value: Any, here: str) -> str:
        """`row = A[i]`."""
        if here and isinstance(value, gast.Subscript):
            items = items_of(value)
            base = value.value
            if len(items) == 1 and isinstance(base, gast.Name):
                index = self.expressions.sure(base.id, 0, items[0])
                if index is not None:
                    part = f"{self.expressions.name(base.id)}.part({index})"
                    self.sizes.part(own, base.id)
                    return f"const auto {name} = {part};"
        raise NotCuda(f"`{syntax.text(value)}` makes an array in a kernel")

    def exchanged(self, target: gast.Tuple, value: Any) -> Lines:
        """`a, b = b, a + b`."""
        if not isinstance(value, gast.Tuple):
            raise NotCuda("a tuple that is not spelled out is unpacked")
        names = [self.expressions.name(e.id) for e in target.elts]
        kinds = [self.kinds.of[e.id] for e in target.elts]
        lines = []
        for name, kind, part in zip(names, kinds, value.elts, strict=True):
            if not isinstance(kind, str):
                raise NotCuda("arrays are exchanged in a kernel")
            text = self.expressions.text(part, kind)
            lines.append(f"    const {kind} new_{name} = {text};")
        return ["{", *lines, *(f"    {n} = new_{n};" for n in names), "}"]

    def store(self, target: gast.Subscript, value: Any) -> Lines:
        kind = self.kinds.kind(target)
        if not isinstance(kind, str):
            raise NotCuda(f"`{syntax.text(target)}` is no element of an array")
        text = self.expressions.text(value, kind)
        return [f"{self.expressions.element(target)} = {text};"]

    # -- loops -----------------------------------------------------------------------

    def of_for(self, stmt: gast.For, inner: set[str]) -> Lines:
        head, body, own = self.loop_head(stmt)
        body += self.block(stmt.body, inner - own)
        for name in own:
            self.expressions.loops.pop(name, None)
        return self.braced(head, body)

    def loop_head(self, stmt: gast.For) -> tuple[str, Lines, set[str]]:
        """`for (...)`, what comes first inside, and the names that it declares."""
        start, stop, step = bounds(stmt)
        var = stmt.target.id
        changed = syntax.names_written(stmt.body)
        if syntax.names_read([start, stop]) & changed or any(
            isinstance(n, gast.Subscript) and not is_size(n)
            for n in syntax.walk([start, stop])
        ):
            raise NotCuda("the bounds of a loop change in it")
        kept = self.is_kept(stmt)
        known = self.sizes.range(start, stop, step)
        name = self.expressions.name(var)
        first = self.bound(start)
        last = self.bound(stop)
        sign = "<" if step > 0 else ">"
        steps = {1: "++", -1: "--"}.get(step, "")
        more = (
            f"{steps}{{}}" if steps else f"{{}} {'+' if step > 0 else '-'}= {abs(step)}"
        )
        if kept:
            counter = f"{name}_at"
            head = (
                f"for (long long {counter} = {first}; {counter} {sign} {last}; "
                f"{more.format(counter)})"
            )
            return head, [f"{name} = {counter};"], set()
        of = "long long"
        if known is not None:
            of = "index"
            self.expressions.loops[var] = known
        head = f"for ({of} {name} = {first}; {name} {sign} {last}; {more.format(name)})"
        return head, [], {var}

    def bound(self, node: Any) -> str:
        """The bound of a loop; what is one more or less than a size stays so."""
        text = self.expressions.of(node)
        if text.of != "long long":
            return self.expressions.to(text, "long long").text
        plain = self.plain_sum(node)
        return plain if plain is not None else text.at(6)

    def plain_sum(self, node: Any) -> str | None:
        """`len(x) - 1`, which does not wrap around."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
            left = self.plain_sum(node.left)
            if left is not None and isinstance(node.right, gast.Constant):
                sign = "+" if isinstance(node.op, gast.Add) else "-"
                return f"{left} {sign} {node.right.value}"
            return None
        if is_size(node):
            return self.expressions.text(node)
        if isinstance(node, gast.Name) and node.id in self.expressions.loops:
            return self.expressions.name(node.id)
        return None


def bounds(stmt: gast.For) -> tuple[Any, Any, int]:
    """The start, stop and step of a loop over a range. Raises NotCuda."""
    call = stmt.iter
    if not isinstance(call, gast.Call) or not syntax.is_name(call.func, "range"):
        raise NotCuda("a loop over what is no range")
    args = list(call.args)
    if len(args) == 1:
        args = [syntax.const(0), *args]
    step = step_of(args[2]) if len(args) == 3 else 1
    if not step:
        raise NotCuda("a loop of which the step is not known")
    return args[0], args[1], step


def step_of(node: Any) -> int:
    """The value of a step; 0 if it is not known."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return -step_of(node.operand)
    value = getattr(node, "value", 0)
    return value if type(value) is int else 0


def is_differs(stmt: gast.Raise) -> bool:
    return syntax.is_name(stmt.exc, "Differs")


__all__ = ["Range", "Statements", "affine", "bounds", "is_size"]
