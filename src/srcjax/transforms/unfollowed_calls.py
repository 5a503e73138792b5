"""Calls that nothing follows: refused alike in every transform.

    fill(x, out)                a compiled function
    out.put([0, 2], x[:2])      a function of NumPy's that writes, and has no rule
    work = Thread(target=f, args=(x,))

What such a call is given may be changed, or kept and changed later. If a derivative
flows into it, whether its result is used or not, nothing would be left of that
derivative; the writers of all transforms ask here before they write a unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    NONE,
    Array,
    ageless_buffers,
    all_buffers,
    is_active,
    sites_of,
)
from srcjax.transforms.writer import DerivativeWriter, Writer


def check_calls(writer: Writer) -> None:
    """Refuse what may change a differentiated value out of sight.

    A batch calls a function that it does not know once for each example, which is right
    as long as the examples have what is written to for themselves.
    """
    derivative = isinstance(writer, DerivativeWriter)
    for stmt in syntax.walk(writer.unit.node.body):
        if not isinstance(stmt, gast.stmt) or isinstance(stmt, gast.Raise):
            continue
        effect = isinstance(stmt, gast.Expr)
        for call in calls_of(stmt):
            unclear = id(call) in writer.facts.unclear
            if not unclear and not is_found_when_run(writer, call):
                continue
            if not takes_active(writer, stmt, call):
                continue
            bound = getattr(stmt, "value", None) is call
            if effect or (derivative and (unclear or not bound and is_method(call))):
                raise refusal(writer, stmt, call)
            if not derivative and writes_for_all(writer, call, unclear):
                raise refusal(writer, stmt, call)
    check_unwritten(writer, {id(writer.unit.source.func)}, derivative)


def check_unwritten(writer: Writer, seen: set[int], derivative: bool) -> None:
    """The same in functions that stay as they are, as what they give carries nothing.

    So it looks where what they give was filled out of sight.
    """
    program, facts = writer.program, writer.facts
    for stmt in syntax.walk(writer.unit.node.body):
        if not isinstance(stmt, gast.stmt) or isinstance(stmt, gast.Raise):
            continue
        for call in calls_of(stmt):
            for callee in facts.callees.get(id(call), []):
                function = getattr(callee, "__func__", callee)
                key, result = id(function), program.result_of(function)
                if key in seen or key not in program.units or result is None:
                    continue
                if is_active(result) or not takes_active(writer, stmt, call):
                    continue
                seen.add(key)
                inner = Writer(program, program.units[key])
                refuse_unclear(inner, derivative)
                check_unwritten(inner, seen, derivative)


def refuse_unclear(writer: Writer, derivative: bool) -> None:
    """Refuse calls that get differentiated values and may write to anything.

    So may what is found when the program runs: an object that is asked may keep what it
    is given, of which nothing is left of a derivative.
    """
    for stmt in syntax.walk(writer.unit.node.body):
        if not isinstance(stmt, gast.stmt) or isinstance(stmt, gast.Raise):
            continue
        for call in calls_of(stmt):
            unclear = id(call) in writer.facts.unclear
            if isinstance(stmt, gast.Expr) or derivative and is_method(call):
                unclear |= is_found_when_run(writer, call)
            if unclear and takes_active(writer, stmt, call):
                raise refusal(writer, stmt, call)


def writes_for_all(writer: Writer, call: gast.Call, unclear: bool) -> bool:
    """Whether the call may write to what all examples of a batch have in common.

    Of a function that is found when the program runs it is not known what it writes:
    anything that was made for one example may be.
    """
    written = ageless_buffers(writer.facts.writes.get(id(call), NONE))
    for name in sorted(syntax.names_read(call)):  # a method in a name has its object
        t = writer.type_of_name(name)
        if isinstance(t, Array) and is_active(t):
            continue
        memory = ageless_buffers(all_buffers(t))
        if memory & written or (not unclear and sites_of(memory)):
            return True
    return False


def is_found_when_run(writer: Writer, call: gast.Call) -> bool:
    """Whether it is only known when the program runs what is called."""
    callees = writer.facts.callees.get(id(call), [])
    return len(callees) > 1 or callees == [None]


def is_method(call: gast.Call) -> bool:
    """Whether an object is asked, which may keep what it is given."""
    return isinstance(call.func, gast.Attribute)


def calls_of(stmt: Any) -> Iterator[gast.Call]:
    """The calls in the statement itself, or in the head of a compound one."""
    if isinstance(stmt, gast.FunctionDef):
        return
    for node in syntax.walk(syntax.head(stmt)):
        if isinstance(node, gast.Call):
            yield node


def takes_active(writer: Writer, stmt: gast.stmt, call: gast.Call) -> bool:
    """Whether a derivative flows into the call, where it stands."""
    names = syntax.names_read(call)
    variants = writer.facts.of(stmt)
    head = syntax.head(stmt)
    bound = {
        name
        for node in syntax.walk(head)
        if isinstance(node, gast.comprehension)
        for name in syntax.names_written(node.target)
    }
    if names & bound:
        names = syntax.names_read(head)
    if not variants:
        return any(is_active(writer.type_of_name(n)) for n in names)
    return any(is_active(v.before[n]) for v in variants for n in names & set(v.before))


def refusal(writer: Writer, stmt: gast.stmt, call: gast.Call) -> Exception:
    """The error that the call is not followed."""
    writer.stmt = stmt
    shown = syntax.text(call.func)
    made = isinstance(stmt, (gast.Assign, gast.Return)) and stmt.value is call
    if made and isinstance(writer, DerivativeWriter):
        return writer.not_followed(call)
    error: Exception = writer.refuse(
        f"`{shown}` may change a differentiated value",
        "return the new value instead, or wrap what needs no derivative in "
        "`srcjax.stop_gradient`",
    )
    return error


__all__ = ["calls_of", "check_calls"]
