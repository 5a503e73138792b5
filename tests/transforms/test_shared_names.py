"""The sides of a branch call their own values the same."""

import gast

from srcjax.transforms.simplify.coalesce import share_names


def test_names_of_one_length_are_given_in_their_order():
    """Not in that of a set, which is another one in each process."""
    count = 8
    first = "\n".join(
        f"        v{k} = y * {k}\n        dy += v{k}" for k in range(count)
    )
    second = first.replace("v", "w")
    text = f"def f(x, y, dy):\n    if x:\n{first}\n    else:\n{second}\n    return dy\n"
    (node,) = gast.parse(text).body
    share_names(node, lambda a, b: True)
    given = [s.targets[0].id for s in node.body[0].orelse[::2]]
    assert given == [f"v{k}" for k in range(count)]
