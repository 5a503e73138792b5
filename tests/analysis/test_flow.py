"""How control and values go through statements, in core form and in written text."""

import gast
import pytest

from srcjax import syntax
from srcjax.analysis.flow import control as kinds
from srcjax.analysis.flow.bindings import bound_before, exposed, surely, surely_in
from srcjax.analysis.flow.control import Control, Way, control, leaves, own_breaks
from srcjax.analysis.flow.liveness import Liveness, Meeting
from srcjax.analysis.flow.mentions import Known, mentions, own_mentions
from srcjax.analysis.flow.positions import Positions, between


def body(text):
    return gast.parse(text).body


CHOICE = "if c:\n    a = 1\nelse:\n    a = 2\n    b = a\n"
LOOP = "for i in xs:\n    a = i + b\n"
REPEATED = "while c:\n    a = 1\n"
BLOCK = "with f(x) as y:\n    a = y\n"
FINAL = "try:\n    a = f(x)\nfinally:\n    b = 1\n"
ATTEMPT = "try:\n    a = f(x)\n    b = 1\nexcept E:\n    a = 2\n"
BOTH_ENDS = "try:\n    a = 1\nexcept E:\n    a = 2\nfinally:\n    b = 1\n"


@pytest.mark.parametrize(
    ("text", "way", "bound", "first"),
    [
        (CHOICE, Way.CHOICE, "a", "c"),
        ("if c:\n    a = 1\nelse:\n    break\n", Way.CHOICE, "a", "c"),
        ("if c:\n    a = 1\nelse:\n    raise E\n", Way.CHOICE, "a", "c E"),
        ("if c:\n    a = 1\n", Way.CHOICE, "", "c"),
        (LOOP, Way.LOOP, "", "xs b"),
        (REPEATED, Way.LOOP, "", "c"),
        (BLOCK, Way.ONCE, "a y", "f x"),
        (FINAL, Way.ONCE, "a b", "f x"),
        (ATTEMPT, Way.ATTEMPT, "a", "f x E"),
        (BOTH_ENDS, Way.ATTEMPT, "a b", "E"),
        ("a[i] = b", None, "", "a i b"),
        ("a += b", None, "", "a b"),
        ("a: int", None, "", ""),
        ("a, b = b, a", None, "", "a b"),  # what they hold is exchanged
        ("a = [i for i in xs]", None, "a", "xs"),
    ],
)
def test_surely_bound_and_read_first(text, way, bound, first):
    (stmt,) = body(text)
    run = control(stmt)
    assert (run and run.way) == way
    assert surely(stmt) == set(bound.split())
    assert exposed([stmt]) == set(first.split())


def test_bound_before_a_statement():
    stmts = body(
        "a = 1\nfor i in xs:\n    b = i\n    if b:\n        c = b\n    d = 2\n"
    )
    last = stmts[1].body[-1]
    assert bound_before(stmts, last) == {"a", "i", "b"}
    assert surely_in(stmts) == {"a"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("return x", True),
        ("if c:\n    return x\n", False),
        ("if c:\n    return x\nelse:\n    raise E\n", True),
        ("with f():\n    return x\n", True),
        ("try:\n    return x\nexcept E:\n    pass\n", False),
        ("try:\n    return x\nexcept E:\n    raise\n", True),
        ("while c:\n    return x\n", False),
    ],
)
def test_blocks_that_are_left(text, left):
    assert leaves(body(text)) == left


def test_breaks_of_a_loop_are_not_those_of_loops_inside():
    (loop,) = body(
        "for i in xs:\n"
        "    with f():\n        break\n"
        "    while c:\n        break\n"
        "    try:\n        pass\n    except E:\n        break\n"
    )
    assert len(own_breaks(loop.body)) == 2


# -- positions -------------------------------------------------------------------------


def test_what_may_run_between():
    text = "v = a[i]\nfor k in xs:\n    w = a[k]\n    use(w)\n    a[k] = 0\nuse(v)\n"
    stmts = body(text)
    start, loop, last = stmts
    made, use, write = loop.body
    at = Positions(stmts)
    assert between(at[start], at[write], at[last])
    assert not between(at[made], at[write], at[use])  # made anew in each trip
    assert at[use].may_follow(at[write])
    assert not at[start].may_follow(at[write])
    assert at.head(loop).loops == at[use].loops


def test_what_is_made_on_some_trips_only_outlives_a_write():
    """`v` may be of an earlier trip than the write before it in the text."""
    stmts = body("for k in xs:\n    a[0] = k\n    if k:\n        v = a\nuse(v)\n")
    write, branch = stmts[0].body
    at = Positions(stmts)
    assert between(at[branch.body[0]], at[write], at[stmts[1]])


def test_sides_of_a_branch():
    stmts = body("if c:\n    a = 1\nelse:\n    a = 2\n")
    at = Positions(stmts)
    then, other = at[stmts[0].body[0]], at[stmts[0].orelse[0]]
    assert then.excludes(other) and then.never_with(other)
    looped = body("while c:\n    if c:\n        a = 1\n    else:\n        a = 2\n")
    at = Positions(looped)
    branch = looped[0].body[0]
    then, other = at[branch.body[0]], at[branch.orelse[0]]
    assert then.excludes(other) and not then.never_with(other)  # in another trip


# -- mentions and liveness -------------------------------------------------------------


def test_mentions_are_kept_until_told():
    stmts = body("for i in xs:\n    a = a + i * a\n    break\n")
    known = Known()
    found = known.of(stmts[0])
    assert found == mentions(stmts[0])
    assert (found.reads, found.binds, found.jumps) == (
        {"a": 2, "i": 1, "xs": 1},
        {"a", "i"},
        True,
    )
    assert own_mentions(stmts[0]).reads == {"xs": 1}
    known.renamed("a", "b")
    assert known.of(stmts[0]).reads["b"] == 2 and "b" in known.of(stmts[0].body[0])


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("a = b", "b"),
        ("a += b", "a b"),
        (CHOICE, "c"),
        (LOOP, "xs b a"),
        ("while c:\n    a = a + d\n    c = e\n", "a c d e"),
        ("for i in xs:\n    if c:\n        break\n    a = 1\n", "xs c a"),
        (BLOCK, "f x"),
        (FINAL, "f x"),
        (ATTEMPT, "a f x E"),  # the old `a` is seen by nothing, but that is not known
    ],
)
def test_live_before(text, before):
    assert Liveness().block(body(text), frozenset("a")) == set(before.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("b = 1\na = 2\nuse(b)\n", {"a"}),
        ("b = 1\nuse(b)\na = 2\n", set()),
        ("a = b\nuse(b)\nuse(a)\n", set()),  # both hold the same
        ("for i in xs:\n    use(b)\n    a = 1\n    b = 2\n", {"b"}),
    ],
)
def test_names_that_meet(text, found):
    meeting = Meeting(Known(), "a", "b")
    meeting.block(body(text), frozenset("a"))
    assert meeting.found == found


# -- a new kind of statement -----------------------------------------------------------


class Section(gast.stmt):
    """A made-up statement: a label and a block."""

    _fields = ("label", "body")


def test_a_new_kind_is_one_row(monkeypatch):
    """What runs in a known way is understood by all that asks for it."""
    section = Section(syntax.name("label"), body("a = b\nc = a\n"))
    assert control(section) is None
    row = lambda s: Control(Way.ONCE, [s.label], [s.body])  # noqa: E731
    monkeypatch.setitem(kinds._KINDS, Section, row)
    assert surely(section) == {"a", "c"}
    assert exposed([section]) == {"label", "b"}
    assert Liveness().statement(section, frozenset("a")) == {"label", "b"}
    assert len(Positions([section]).stmts) == 3
    syntax.rewrite_blocks(section, lambda block: block[:1])
    assert [len(b) for b in syntax.inner_blocks(section)] == [1]
