"""Lower `match` to `if`: each pattern becomes a test and assignments.

Before:                                After:

    match shape:                           if isinstance(shape, Circle):
        case Circle(r):                        r = shape.radius
            area = pi * r**2                   area = pi * r**2
        case (a, b):                       elif (
            area = a * b                       isinstance(shape, (list, tuple))
                                               and len(shape) == 2
                                           ):
                                               a = shape[0]
                                               ...
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax


def lower_match(body: list[gast.stmt], names: syntax.Names) -> list[gast.stmt]:
    """Every `match` in the statements as `if`s (nested functions excepted)."""
    out: list[gast.stmt] = []
    for stmt in body:
        syntax.rewrite_blocks(stmt, lambda block: lower_match(block, names))
        out.extend(_lower(stmt, names) if isinstance(stmt, gast.Match) else [stmt])
    return out


def _lower(stmt: gast.Match, names: syntax.Names) -> list[gast.stmt]:
    out: list[gast.stmt] = []
    subject = stmt.subject
    patterns = [case.pattern for case in stmt.cases]
    if not isinstance(subject, gast.Name) or subject.id in _captured(patterns):
        id = names.fresh("subject")
        out.append(gast.copy_location(syntax.assign(id, subject), stmt))
        subject = syntax.name(id)
    return out + _cases(stmt.cases, subject, stmt, names)


def _cases(
    cases: list, subject: gast.expr, at: gast.AST, names: syntax.Names
) -> list[gast.stmt]:
    if not cases:
        return []
    case, *rest = cases
    tests: list[gast.expr] = []
    binds: list[gast.stmt] = []
    _pattern(case.pattern, subject, tests, binds)
    for node in syntax.all_statements(binds):
        gast.copy_location(node, case.pattern)
        if not hasattr(node, "lineno"):
            gast.copy_location(node, at)
    if case.guard is None:
        following = _cases(rest, subject, at, names)
        if not tests:
            return [*binds, *case.body]
        new = gast.If(_all(tests), [*binds, *case.body], following)
        return [gast.copy_location(new, at)]
    guarded = _guard_without_binds(case.guard, binds)
    if guarded is not None:
        test = _all([*tests, guarded])
        new = gast.If(test, [*binds, *case.body], _cases(rest, subject, at, names))
        return [gast.copy_location(new, at)]
    matched = names.fresh("matched")
    no = gast.copy_location(syntax.assign(matched, syntax.const(False)), at)
    yes = gast.copy_location(syntax.assign(matched, case.guard), at)
    inner = [*binds, yes]
    if tests:
        inner = [gast.copy_location(gast.If(_all(tests), inner, []), at)]
    following = _cases(rest, subject, at, names)
    test = gast.If(syntax.name(matched), case.body, following)
    return [no, *inner, gast.copy_location(test, at)]


def _guard_without_binds(guard: gast.expr, binds: list) -> gast.expr | None:
    """The guard with the captured names replaced by what they capture."""
    if not all(isinstance(b, gast.Assign) for b in binds):
        return None
    holes = {b.targets[0].id: b.value for b in binds}
    for value in holes.values():
        if not isinstance(value, (gast.Name, gast.Subscript, gast.Attribute)):
            return None
    guarded: gast.expr = syntax.substitute(guard, holes)
    return guarded


def _all(tests: list[gast.expr]) -> gast.expr:
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)


def _pattern(node: Any, subject: gast.expr, tests: list, binds: list) -> None:
    """Append the tests and assignments that the pattern stands for."""
    holes = {"s": subject}

    def part(text: str, **more: gast.expr) -> gast.expr:
        return syntax.expression(text, **holes, **more)

    if isinstance(node, gast.MatchValue):
        tests.append(part("s == v", v=node.value))
    elif isinstance(node, gast.MatchSingleton):
        tests.append(part("s is v", v=syntax.const(node.value)))
    elif isinstance(node, gast.MatchAs):
        if node.pattern is not None:
            _pattern(node.pattern, subject, tests, binds)
        if node.name is not None:
            binds.append(syntax.assign(_identifier(node.name), syntax.clone(subject)))
    elif isinstance(node, gast.MatchOr):
        options: list[gast.expr] = []
        chosen: list[gast.stmt] = []
        for option in reversed(node.patterns):
            inner: list[gast.expr] = []
            captured: list[gast.stmt] = []
            _pattern(option, subject, inner, captured)
            options.insert(0, _all(inner) if inner else syntax.const(True))
            if captured and chosen:
                chosen = [gast.If(syntax.clone(options[0]), captured, chosen)]
            else:  # all capture the same names, or none
                chosen = captured
        tests.append(gast.BoolOp(gast.Or(), options))
        binds += chosen
    elif isinstance(node, gast.MatchSequence):
        _sequence(node, subject, tests, binds)
    elif isinstance(node, gast.MatchMapping):
        tests.append(part("isinstance(s, dict)"))
        for key, pattern in zip(node.keys, node.patterns, strict=True):
            tests.append(part("k in s", k=key))
            _pattern(pattern, part("s[k]", k=key), tests, binds)
        if node.rest is not None:
            keys = gast.Tuple(list(node.keys), syntax.LOAD)
            rest = part("{k: v for k, v in s.items() if k not in keys}", keys=keys)
            binds.append(syntax.assign(_identifier(node.rest), rest))
    elif isinstance(node, gast.MatchClass):
        tests.append(part("isinstance(s, c)", c=node.cls))
        for position, pattern in enumerate(node.patterns):
            attribute = part(f"getattr(s, c.__match_args__[{position}])", c=node.cls)
            if syntax.dotted(node.cls) in ("int", "float", "str", "bool", "list"):
                attribute = subject
            _pattern(pattern, attribute, tests, binds)
        for key, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            _pattern(pattern, gast.Attribute(subject, key, syntax.LOAD), tests, binds)
    else:
        raise NotImplementedError(type(node).__name__)


def _sequence(node: Any, subject: gast.expr, tests: list, binds: list) -> None:
    star = next(
        (i for i, p in enumerate(node.patterns) if isinstance(p, gast.MatchStar)), None
    )
    count = len(node.patterns)
    holes = {"s": subject}
    tests.append(syntax.expression("isinstance(s, (list, tuple))", **holes))
    if star is None:
        tests.append(syntax.expression(f"len(s) == {count}", **holes))
    else:
        tests.append(syntax.expression(f"len(s) >= {count - 1}", **holes))
    for position, pattern in enumerate(node.patterns):
        if position == star:
            stop = position - count + 1
            end = str(stop) if stop else ""
            if pattern.name is not None:
                rest = syntax.expression(f"list(s[{position}:{end}])", **holes)
                binds.append(syntax.assign(_identifier(pattern.name), rest))
            continue
        index = position if star is None or position < star else position - count
        item = syntax.expression(f"s[{index}]", **holes)
        _pattern(pattern, item, tests, binds)


def _captured(patterns: list) -> set[str]:
    """The names that patterns bind."""
    return {
        _identifier(name)
        for node in syntax.walk(patterns)
        if isinstance(node, (gast.MatchAs, gast.MatchStar, gast.MatchMapping))
        for name in [node.rest if isinstance(node, gast.MatchMapping) else node.name]
        if name is not None
    }


def _identifier(name: Any) -> str:
    return name if isinstance(name, str) else name.id
