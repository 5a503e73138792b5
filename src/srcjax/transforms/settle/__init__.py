"""What the types decide about the core form, before it is differentiated.

- a branch whose condition is known is replaced by the side that is taken;
- `x += v` on a number becomes `x = x + v` (an array's stays in place);
- a loop over the items of something that varies becomes a loop over an index, with
  `item = xs[i]` first in its body (`simplify.sugar` turns it back where it can);
- calls are inlined where they must or should be (see `inline`).
"""

from __future__ import annotations

import types as pytypes
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.calls import LOOKS_AT_TYPES
from srcjax.analysis.flow.control import is_compound
from srcjax.analysis.known_values import class_of, truth
from srcjax.analysis.outside import changed_reads
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    Array,
    Closure,
    Const,
    Dict,
    List,
    Tuple,
    Varies,
    is_active,
    is_mapping,
    is_number,
    site_of,
    varies,
)
from srcjax.analysis.unfollowed import is_hashable
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.attempts import caught_flag
from srcjax.frontend.unit import Unit
from srcjax.ops.patched import NAMED_MODULES
from srcjax.transforms.settle.keys import write_out_keys
from srcjax.transforms.settle.loops import LoopSettling
from srcjax.transforms.settle.values import ValueSettling
from srcjax.transforms.settle.yielded import YieldSettling

#: Types of values whose class stays what it is.
_OF_ONE_CLASS = (Array, List, Tuple, Dict)


def settle(program: Program, recursive: set[int]) -> bool:
    """Rewrite the units in place; True if something changed (infer again then).

    `x += v` of an `x` whose type is not known waits until all calls are inlined that
    may tell: an array is changed in place, a number is not.
    """
    changed = waiting = False
    for patient in (True, False):
        if changed or not (patient or waiting):
            break
        for unit in program.reached():
            if unit.first is None and id(unit.source.func) != program.entry:
                unit.first = syntax.clone(unit.node)
            settling = Settling(program, unit, recursive)
            settling.patient = patient
            unit.node.body = settling.block(unit.node.body)
            changed |= settling.changed
            waiting |= settling.waiting
    for unit in program.reached() if not changed else ():
        changed |= write_out_keys(unit, Settling(program, unit, recursive).is_builtin)
    if not changed:
        for unit in program.reached():
            drop_unread_functions(unit)
    return changed


def drop_unread_functions(unit: Unit) -> None:
    """Take out inner functions that were inlined wherever they were called.

    What their bodies bind and read are other variables of the same names.
    """
    found = True
    functions = set(map(_defined, syntax.all_statements(unit.node.body))) - {None}
    while found:
        found = False
        for block in syntax.blocks(unit.node.body):
            for stmt in list(block):
                name = _defined(stmt) or _named_again(stmt, functions)
                if name is None:
                    continue
                functions.add(name)
                own = syntax.count_reads(stmt, name)
                if syntax.count_reads(unit.node, name) == own:
                    block.remove(stmt)
                    found = True
            if not block:
                block.append(gast.Pass())


def _defined(stmt: gast.stmt) -> str | None:
    """The name of the function that a statement makes, and does nothing else."""
    if isinstance(stmt, gast.FunctionDef):
        return None if stmt.decorator_list else str(stmt.name)
    made = isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Lambda)
    if not made or syntax.kinds(stmt.value.args) & {gast.Call, gast.NamedExpr}:
        return None
    target = stmt.targets[0]
    return str(target.id) if isinstance(target, gast.Name) else None


def _named_again(stmt: gast.stmt, functions: set[str | None]) -> str | None:
    """The second name that a statement gives a function of the unit."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Name):
        return None
    target = stmt.targets[0]
    named = isinstance(target, gast.Name) and stmt.value.id in functions
    return str(target.id) if named else None


#: Functions that batches are told of by these names.
_SPELLED: dict[Any, str] = {
    **{f: f.__name__ for f in (len, isinstance, sorted, sum, any, all, zip, map)},
    **{f: f.__name__ for f in (filter, list, tuple, dict, int, float, bool, range)},
    **{f: f"np.{f.__name__}" for f in (np.shape, np.ndim, np.size, np.arange)},
}


def _has_name(value: Any) -> bool:
    """Whether a text can import the value, or write it."""
    plain = type(value) in (bool, int, float, str, type(None))
    return plain or isinstance(value, (pytypes.ModuleType, type))


def up_to_raise(block: list[gast.stmt]) -> list[gast.stmt]:
    """The statements without those that come after a `raise`."""
    for at, stmt in enumerate(block):
        if isinstance(stmt, gast.Raise):
            return block[: at + 1]
    return block


class Settling(LoopSettling, ValueSettling, YieldSettling):
    """One pass over one unit."""

    def statement(self, stmt: gast.stmt) -> list[gast.stmt]:
        self.at = stmt
        compound = is_compound(stmt)
        kept = self.kept_reads(stmt)
        if kept:
            self.changed = True
            return [*kept, stmt]
        if self.of_an_iterator(stmt):
            self.changed = True
            return [stmt]
        asked = self.with_items_asked_for(stmt)
        if asked is not None:
            return asked
        if not compound and self.facts.lacking and (name := self.lacked(stmt)):
            self.changed = True
            error = syntax.expression("AttributeError(name)", name=syntax.const(name))
            raised = gast.copy_location(gast.Raise(error, None), stmt)
            raised.kind = AttributeError
            return [raised]
        if is_mapping() and self.spelled_out(stmt, compound):
            return [stmt]
        if not compound and (self.named_class(stmt) or self.named_by_types(stmt)):
            return [stmt]
        copied = self.copied_first(stmt)
        if copied is not None:
            self.changed = True
            return copied
        caught = self.caught_at_once(stmt)
        if caught is not None:
            self.changed = True
            return caught
        kinds = syntax.kinds(syntax.head(stmt) if compound else stmt)
        if gast.IfExp in kinds and self.chose(stmt):
            return [stmt]
        asks = not compound and (gast.Subscript in kinds or gast.Call in kinds)
        made = self.numbered(stmt) if asks else []
        self.changed |= bool(made)
        return [*made, stmt] if made else super().statement(stmt)

    def kept_reads(self, stmt: gast.stmt) -> list[gast.stmt]:
        """Names for what the statement reads of objects that change around it."""
        other = isinstance(stmt, (gast.While, gast.FunctionDef, gast.Raise))
        if (
            other
            or getattr(stmt, "keeps_read", False)
            or varies() is not Varies.DERIVATIVES
        ):
            return []
        if not syntax.all_names(stmt) & self.unit.varying:
            return []
        value = getattr(stmt, "value", None)
        targets = [*getattr(stmt, "targets", ()), getattr(stmt, "target", None)]
        places = [t for t in targets if isinstance(t, gast.Subscript)]
        parts = [getattr(stmt, key, None) for key in ("value", "test", "iter")]
        found = changed_reads(
            self.program,
            self.unit,
            [*parts, *(place.slice for place in places)],
            lambda name: self.type_before(stmt, name),
        )
        before: list[gast.stmt] = []
        for node in found:
            if node is value and isinstance(stmt, gast.Assign):
                continue  # it has a name
            shown = getattr(node, "attr", None) or f"{syntax.root_of(node)}_item"
            copied = isinstance(node, gast.Name)
            held = self.fresh(f"{node.id}_now" if copied else shown)
            text = "v.copy()" if copied else "v"
            keeps = syntax.assign(held, syntax.expression(text, v=node))
            keeps.keeps_read = True
            before.append(keeps)
            node.kept_as = held

        def named(expr: gast.expr) -> gast.expr:
            held = getattr(expr, "kept_as", None)
            return expr if held is None else syntax.name(held)

        if before:
            for key in ("value", "test", "iter"):
                if getattr(stmt, key, None) is not None:
                    part = syntax.map_expressions(getattr(stmt, key), named)
                    setattr(stmt, key, part)
            for place in places:
                place.slice = syntax.map_expressions(place.slice, named)
        return before

    def lacked(self, stmt: gast.stmt) -> str | None:
        """The attribute that the statement asks of what does not have it, always."""
        if isinstance(stmt, gast.FunctionDef) or self.facts.of(stmt):
            return None
        for node in syntax.walk(stmt):
            if id(node) in self.facts.lacking:
                return str(node.attr)
        return None

    def named_class(self, stmt: gast.stmt) -> bool:
        """`t = type(x)` of a differentiated (or mapped) value: `t = float`."""
        if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Call):
            return False
        value = stmt.value
        if self.facts.callees.get(id(value)) or len(value.args) != 1:
            return False
        of = value.args[0]
        if not self.is_builtin(value.func, "type") or not isinstance(of, gast.Name):
            return False
        t = self.type_before(stmt, of.id)
        cls = None if t is None or not is_active(t) else class_of(t)
        if cls is None:
            return False
        stmt.value = syntax.name(self.inliner.constant(cls, cls.__name__))
        self.changed = True
        return True

    def spelled_out(self, stmt: gast.stmt, compound: bool) -> bool:
        """`f(x)` of `f = np.shape` in a batch, which knows such functions by name."""
        if isinstance(stmt, gast.FunctionDef):
            return False
        found = False
        for node in syntax.walk(syntax.head(stmt) if compound else stmt):
            if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name):
                continue
            value = self.called_value(stmt, node.func.id)
            text = _SPELLED.get(value) if is_hashable(value) else None
            root, _, rest = (text or "").partition(".")
            if text is None or text == node.func.id:
                continue
            if root in self.written or root in self.unit.parameters:
                continue  # another thing has the name
            if rest:
                self.named_value(np, root)
            node.func = gast.copy_location(syntax.expression(text), node.func)
            found = self.changed = True
        return found

    def copied_first(self, stmt: gast.stmt) -> list[gast.stmt] | None:
        """`xs.extend(xs)` of a list: what it is given is the list as it was before."""
        call = getattr(stmt, "value", None)
        if not isinstance(stmt, gast.Expr) or not isinstance(call, gast.Call):
            return None
        if self.facts.callees.get(id(call)) != ["list.extend"]:
            return None
        base: Any = call.func
        given = call.args[0] if len(call.args) == 1 else None
        if not isinstance(given, gast.Name) or not isinstance(base.value, gast.Name):
            return None
        if given.id != base.value.id:
            return None
        held = self.fresh(f"{given.id}_before")
        copy = syntax.assign(held, syntax.expression("xs.copy()", xs=given))
        call.args = [syntax.name(held)]
        return [gast.copy_location(copy, stmt), stmt]

    def called_value(self, stmt: gast.stmt, name: str) -> Any:
        """What a name means before the statement, if it is known."""
        t = self.type_before(stmt, name)
        if isinstance(t, Const):
            return t.value
        return None if t is not None else self.value_around(name)

    def named_by_types(self, stmt: gast.stmt) -> bool:
        """`xp = namespace(x)` of what looks at types alone: `xp = np`.

        The examples of a batch of numbers are an array, which has another one.
        """
        if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Call):
            return False
        target, variants = stmt.targets[0], self.facts.of(stmt)
        if self.facts.callees.get(id(stmt.value)) != [LOOKS_AT_TYPES]:
            return False
        if not isinstance(target, gast.Name) or not variants:
            return False
        found = {v.after.get(target.id) for v in variants}
        t = found.pop() if len(found) == 1 else None
        parts = t.items if isinstance(t, Tuple) else (t,)
        if not all(isinstance(part, Const) for part in parts):
            return False
        values = [part.value for part in parts if isinstance(part, Const)]
        if varies() is Varies.DERIVATIVES and not all(map(_has_name, values)):
            return False
        names = [self.named_value(value, target.id) for value in values]
        whole = gast.Tuple(names, gast.Load()) if isinstance(t, Tuple) else names[0]
        stmt.value = gast.copy_location(whole, stmt.value)
        self.changed = True
        return True

    def named_value(self, value: Any, base: str) -> gast.expr:
        """An expression for a known value."""
        if type(value) in (bool, int, float, str, type(None)):
            return syntax.const(value)
        named = _has_name(value)
        shown = value.__name__.rpartition(".")[2] if named else base
        if value is np:
            shown = "np"
        if NAMED_MODULES.get(shown) is value:
            self.unit.extra[shown] = value  # no variable has its name
            self.unit.from_around.add(shown)
            self.unit.names.taken.add(shown)
            return syntax.name(shown)
        return syntax.name(self.inliner.constant(value, shown))

    def caught_at_once(self, stmt: gast.stmt) -> list[gast.stmt] | None:
        """What the handler does of a `try` that begins with a known error.

        It stays where others set the flag too: it is theirs alone elsewhere.
        """
        if not isinstance(stmt, gast.Try) or (flag := caught_flag(stmt)) is None:
            return None
        kind = getattr(stmt.body[0], "kind", None)
        tries = (s for s in syntax.walk(self.unit.node) if isinstance(s, gast.Try))
        if kind is None or any(s is not stmt and caught_flag(s) == flag for s in tries):
            return None
        for handler in stmt.handlers:
            several = isinstance(handler.type, gast.Tuple)
            named = handler.type.elts if several else [handler.type]
            try:
                kinds = [self.program.resolve(self.unit, n.id) for n in named]
            except (AttributeError, KeyError):
                kinds = [] if handler.type is not None else [BaseException]
            if handler.name is not None or not kinds:
                return None
            if any(isinstance(k, type) and issubclass(kind, k) for k in kinds):
                return list(handler.body)
        return None

    def chose(self, stmt: gast.stmt) -> bool:
        """Whether it had an `a if test else b` with a known test, which is gone now.

        There are some left in what is as the user wrote it.
        """
        found = False
        for key, part in vars(stmt).items():
            if not isinstance(part, gast.expr):
                continue
            known = [
                node
                for node in syntax.walk(part)
                if isinstance(node, gast.IfExp)
                and self.outcome(node) is not None
                and self.only_computes(node.test)
            ]
            for node in known:
                node.chosen = node.body if self.outcome(node) else node.orelse
            if known:
                part = syntax.map_expressions(part, lambda e: getattr(e, "chosen", e))
                setattr(stmt, key, part)
                found = self.changed = True
        return found

    def outcome(self, node: gast.If | gast.IfExp) -> bool | None:
        """The truth of the test, if it is always the same one."""
        outcomes = self.facts.tests.get(id(node))
        pure = not any(isinstance(n, gast.NamedExpr) for n in syntax.walk(node.test))
        seen = not self.facts.unseen or self.is_fixed(node)
        if outcomes in ({True}, {False}) and pure and seen:
            return outcomes == {True}
        return None

    def is_fixed(self, node: gast.If | gast.IfExp) -> bool:
        """Whether the test is about numbers, constants, functions in names bound once.

        No function that is not looked into yet can make it another one. Nor can it
        change of what class a list or an array in such a name is: that of a parameter,
        a call in such a function may.
        """
        stmt = getattr(self, "at", None)
        if stmt is None:
            return False
        for name in syntax.names_read(node.test):
            found = self.type_before(stmt, name)
            if found is None:
                if name not in self.written:
                    continue  # of a builtin, or around the function
                return False
            once = self.bindings[name] == 1
            constant = isinstance(found, (Const, Closure)) or is_number(found)
            if isinstance(found, _OF_ONE_CLASS) and name not in self.unit.parameters:
                constant |= self.asks_class(node.test)
            if not once or not constant:
                return False
        return True

    def asks_class(self, test: gast.expr) -> bool:
        """Whether it is `isinstance(x, ...)` of a name, or not."""
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            return self.asks_class(test.operand)
        return (
            isinstance(test, gast.Call)
            and self.is_builtin(test.func, "isinstance")
            and isinstance(test.args[0], gast.Name)
        )

    def on_If(self, stmt: gast.If) -> list[gast.stmt]:
        self.at = stmt
        outcome = self.outcome(stmt)
        if outcome is not None:
            self.changed = True
            taken = stmt.body if outcome else stmt.orelse
            taken = [s for s in taken if not isinstance(s, gast.Pass)]
            test = self.evaluated(stmt, stmt.test)
            if not self.only_computes(test):
                taken = [gast.copy_location(gast.Expr(test), stmt), *taken]
            return self.block(taken)
        test = self.shortened(stmt, stmt.test)
        if test is not stmt.test:
            stmt.test, self.changed = test, True
        stmt.body = up_to_raise(self.block(stmt.body)) or [gast.Pass()]
        stmt.orelse = up_to_raise(self.block(stmt.orelse))
        return [stmt]

    def evaluated(self, stmt: gast.stmt, test: gast.expr) -> gast.expr:
        """What is evaluated of a test: `a` of `a and b`, where that is surely false."""
        if not isinstance(test, gast.BoolOp):
            return test
        ends = isinstance(test.op, gast.Or)
        parts: list[gast.expr] = []
        for operand in test.values:
            parts.append(operand)
            if self.truth(stmt, operand) is ends:
                break
        return parts[0] if len(parts) == 1 else gast.BoolOp(test.op, parts)

    def shortened(self, stmt: gast.stmt, test: gast.expr) -> gast.expr:
        """`a and b` without those operands that surely let the others decide."""
        if not isinstance(test, gast.BoolOp) or self.facts.unseen:
            return test
        lets = isinstance(test.op, gast.And)
        parts = [
            operand
            for operand in test.values
            if self.truth(stmt, operand) is not lets or not self.only_computes(operand)
        ]
        if len(parts) == len(test.values):
            return test
        return gast.BoolOp(test.op, parts) if len(parts) > 1 else parts[0]

    def truth(self, stmt: gast.stmt, test: gast.expr) -> bool | None:
        """The truth of a part of a test, where types tell it."""
        found = {
            truth(self.typer.type_of(test, dict(v.before))) for v in self.facts.of(stmt)
        }
        return found.pop() if len(found) == 1 else None

    def on_blocks(self, stmt: Any) -> list[gast.stmt]:
        if caught_flag(stmt) is not None:
            self.refuse_half_done(stmt)
        syntax.rewrite_blocks(stmt, self.block)
        return [stmt]

    def refuse_half_done(self, stmt: gast.Try) -> None:
        """What a called function has changed when it raises must not be seen.

        A write in the body of the `try` itself stands last in its piece
        (`frontend.attempts`); the writes of functions put in place of their calls are
        only found here. Memory that is made in the body is not seen outside of it.
        """
        inside = {id(node) for node in syntax.walk(stmt.body)}
        last = stmt.body[-1]
        apart = {id(last), id(getattr(last, "value", None))}
        for each in syntax.all_statements(stmt.body):
            nodes = syntax.walk(syntax.head(each))
            written = self.facts.written_by(n for n in nodes if id(n) not in apart)
            if any(site_of(b) not in inside for b in written):
                raise error_at(
                    UnsupportedError,
                    self.unit.source,
                    each,
                    "this changes a value that is seen after an exception has left the "
                    "`try` half done",
                    "a copy that is changed, and kept where nothing was raised",
                )


__all__ = ["settle"]
