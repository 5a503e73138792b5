"""Leave the derivative of an item that was used up as it is, where nothing asks for it.

Before:                                  After:

    for i in reversed(range(n)):             for i in reversed(range(n)):
        dratio = dy[i]                           dratio = dy[i]
        dy[i] = 0.0                              db[i] += dratio
        db[i] += dratio

The item has to be one that no other iteration reads: its place has the counter of each
loop around that runs more than once for the array, counted from zero or more, and
every read of the array is of that place, before it is set to zero, or of a place that
is surely another one: `dA[i, i - 1]` beside `dA[i, i]`. What adds to other places may
add to it too, which nothing sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.fresh import is_new_array
from srcjax.transforms.reads_writes import direction

_Block = list[Any]
#: Blocks with the position in each that leads on, from the outside.
_Path = list[tuple[_Block, int]]


def drop_spent(
    node: gast.FunctionDef,
    shares: Callable[[str], set[str]],
    is_number: Callable[[gast.expr], bool],
) -> bool:
    """Drop such statements of the function, in place; whether there were any.

    `shares` gives the names that see what is written through a name.
    """
    found = [
        path
        for path in _zeros(node.body, [])
        if _is_spent(node, path, shares, is_number)
    ]
    for path in found:
        _without_copy(node, *path[-1])
    gone = {id(block[place]) for *_, (block, place) in found}
    for block in list(syntax.blocks(node.body)):
        block[:] = [s for s in block if id(s) not in gone]
    return bool(found)


def _zeros(block: _Block, path: _Path) -> list[_Path]:
    """Where items are set to zero on the way back: the blocks around and in them."""
    found = []
    for place, stmt in enumerate(block):
        here = [*path, (block, place)]
        if path and getattr(stmt, "backward", False) and _sets_zero(stmt):
            found.append(here)
        for inner in syntax.inner_blocks(stmt):
            found += _zeros(inner, here)
    return found


def _sets_zero(stmt: Any) -> bool:
    """`dy[i] = 0.0`."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return False
    target, value = stmt.targets[0], stmt.value
    zero = isinstance(value, gast.Constant) and type(value.value) in (int, float)
    place = isinstance(target, gast.Subscript) and isinstance(target.value, gast.Name)
    return zero and place and value.value == 0


def _is_spent(
    node: gast.FunctionDef,
    path: _Path,
    shares: Callable[[str], set[str]],
    is_number: Callable[[gast.expr], bool],
) -> bool:
    """Whether nothing reads the item once it is set to zero."""
    block, place = path[-1]
    item = block[place].targets[0]
    name = item.value.id
    start = _start(path, name)
    if start is None or shares(name):
        return False
    home, made = start
    loops = [(b, p) for b, p in path[:-1] if b is home or _inside(b, home, path)]
    if not all(_counts(b[p], item, name) for b, p in loops):
        return False
    first = loops[0][1]
    before, after = home[made + 1 : first], home[first + 1 :]
    if any(name in syntax.all_names(s) for s in after):
        return False
    elsewhere = syntax.use_counts(node)[name] - syntax.use_counts(home[made:])[name]
    if elsewhere or not all(_only_writes(s, name) for s in before):
        return False
    allowed = [id(item.value), *_uses(block[:place], item, is_number)]
    allowed += _sums(home[first], name)
    allowed += _apart([b[p] for b, p in loops], item, name)
    uses = [n for n in syntax.walk(home[first]) if syntax.is_name(n, name)]
    return all(id(n) in allowed for n in uses)


def _inside(block: _Block, home: _Block, path: _Path) -> bool:
    """Whether the block is further inside than the one that makes the array."""
    blocks = [id(b) for b, _ in path]
    return blocks.index(id(block)) > blocks.index(id(home))


def _start(path: _Path, name: str) -> tuple[_Block, int] | None:
    """Where the array is made, new, and in which block."""
    for block, place in reversed(path[:-1]):
        bound = [p for p, s in enumerate(block) if _binds_anew(s, name)]
        if not bound:
            continue
        made: Any = block[bound[0]]
        alone = isinstance(made, gast.Assign) and len(made.targets) == 1
        alone = alone and len(bound) == 1 and bound[0] < place
        return (block, bound[0]) if alone and is_new_array(made.value) else None
    return None


def _binds_anew(stmt: Any, name: str) -> bool:
    """Whether it binds the name, but for what is added to the array in place."""
    added = {
        id(s.target)
        for s in syntax.all_statements([stmt])
        if isinstance(s, gast.AugAssign)
    }
    return any(
        n.id == name and isinstance(n.ctx, gast.Store) and id(n) not in added
        for n in syntax.names_in(stmt)
    )


def _binds(stmt: Any, name: str) -> bool:
    return any(
        isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Store)
        for n in syntax.walk(stmt)
    )


def _counts(stmt: Any, item: Any, name: str) -> bool:
    """Whether a statement around is run once, or is a loop that the place counts."""
    if isinstance(stmt, gast.If):
        return True
    if not isinstance(stmt, gast.For) or not isinstance(stmt.target, gast.Name):
        return False
    counter = stmt.target.id
    step, least = direction(stmt.iter)
    if step == 0 or least is None:
        return False
    if any(_binds(s, counter) for s in stmt.body):
        return False
    index = item.slice
    entries = index.elts if isinstance(index, gast.Tuple) else [index]
    return any(_is_counter(e, counter, least) for e in entries)


def _is_counter(entry: Any, counter: str, least: int) -> bool:
    """`i`, `i + 1` and `i - 1`, of which none is another one counted from the end."""
    if syntax.is_name(entry, counter):
        return least >= 0
    if not isinstance(entry, gast.BinOp) or not syntax.is_name(entry.left, counter):
        return False
    more = getattr(entry.right, "value", None)
    if not isinstance(entry.op, (gast.Add, gast.Sub)) or type(more) is not int:
        return False
    return least + (more if isinstance(entry.op, gast.Add) else -more) >= 0


def _only_writes(stmt: Any, name: str) -> bool:
    """Whether a statement, if it names the array, writes to places of it alone.

    Or adds to all of it.
    """
    if isinstance(stmt, (gast.For, gast.If)):
        head = syntax.all_names(syntax.head(stmt))
        inner = syntax.inner_blocks(stmt)
        return name not in head and all(_only_writes(s, name) for b in inner for s in b)
    if not isinstance(stmt, (gast.Assign, gast.AugAssign)):
        return name not in syntax.all_names(stmt)
    if isinstance(stmt, gast.AugAssign) and syntax.is_name(stmt.target, name):
        return name not in syntax.all_names(stmt.value)
    targets = stmt.targets if isinstance(stmt, gast.Assign) else [stmt.target]
    own = [
        t
        for t in targets
        if isinstance(t, gast.Subscript) and syntax.is_name(t.value, name)
    ]
    return syntax.use_counts(stmt)[name] == len(own)


def _uses(
    block: _Block, item: Any, is_number: Callable[[gast.expr], bool]
) -> list[int]:
    """The names in reads of the item in these statements, that keep no view of it."""
    found = []
    index = syntax.names_read(item.slice)
    wanted = syntax.as_load(syntax.clone(item))
    number = is_number(wanted)
    for place, stmt in enumerate(block):
        if any(_binds(s, n) for s in block[place:] for n in index):
            continue
        computed = _computed(stmt)
        found += [
            id(n.value)
            for n in syntax.walk(stmt)
            if isinstance(n, gast.Subscript)
            and isinstance(n.ctx, gast.Load)
            and (number or id(n) in computed)
            and syntax.equal(n, wanted)
        ]
    return found


def _computed(stmt: Any) -> set[int]:
    """The expressions that are operands of operators here, or are copied."""
    found = set()
    for n in syntax.walk(stmt):
        if isinstance(n, gast.BinOp):
            found |= {id(n.left), id(n.right)}
        elif isinstance(n, gast.UnaryOp):
            found.add(id(n.operand))
        elif isinstance(n, gast.Call) and getattr(n.func, "attr", "") == "copy":
            found.add(id(n.func.value))
    return found


def _apart(loops: list[Any], item: Any, name: str) -> list[int]:
    """The names of places in the loops that are never that of the item.

    In other iterations one entry, which has the counter, is another one; in the same
    iteration two entries count from different numbers.
    """
    fors = [s for s in loops if isinstance(s, gast.For)]
    counters = {s.target.id: direction(s.iter)[1] for s in fors}
    mine = _entries(item)
    found = []
    for node in syntax.walk(loops[0]):
        if not isinstance(node, gast.Subscript) or not syntax.is_name(node.value, name):
            continue
        theirs = _entries(node)
        if len(theirs) != len(mine):
            continue
        pairs = list(zip(mine, theirs, strict=True))
        if not all(
            any(_is_counter(a, c, least or 0) and syntax.equal(a, b) for a, b in pairs)
            for c, least in counters.items()
        ):
            continue
        if any(
            _is_counter(a, c, least or 0)
            and _is_counter(b, c, least or 0)
            and not syntax.equal(a, b)
            for c, least in counters.items()
            for a, b in pairs
        ):
            found.append(id(node.value))
    return found


def _entries(place: Any) -> list[Any]:
    index = place.slice
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def _sums(loop: Any, name: str) -> list[int]:
    """The names in `dy[...] += e`."""
    return [
        id(s.target.value)
        for s in syntax.all_statements([loop])
        if isinstance(s, gast.AugAssign)
        and isinstance(s.target, gast.Subscript)
        and syntax.is_name(s.target.value, name)
    ]


def _without_copy(node: gast.FunctionDef, block: _Block, place: int) -> None:
    """Let `dq = dQ[:, j].copy()` be a view, where it is computed with at once."""
    item = block[place].targets[0]
    wanted = syntax.as_load(syntax.clone(item))
    for start, stmt in enumerate(block[:place]):
        value = getattr(stmt, "value", None)
        if not isinstance(stmt, gast.Assign) or not isinstance(value, gast.Call):
            continue
        copied = getattr(value.func, "attr", "") == "copy" and not value.args
        target = stmt.targets[0]
        if not copied or not syntax.equal(value.func.value, wanted):
            continue
        if not isinstance(target, gast.Name):
            continue
        name, reads = target.id, 0
        for later in block[start + 1 :]:
            if later is not block[place] and item.value.id in syntax.all_names(later):
                break
            computed = _computed(later)
            reads += sum(
                syntax.is_name(n, name) and id(n) in computed
                for n in syntax.walk(later)
            )
        if reads == syntax.use_counts(node)[name]:
            stmt.value = value.func.value
