"""Trees of lists, tuples, dicts and registered classes: `jax.tree`'s names.

    from srcjax import tree

    params = tree.map(lambda p, g: p - 0.1 * g, params, grads)
    penalty = sum(np.sum(leaf**2) for leaf in tree.leaves(params))

They work inside transformed functions, where what they stand for is written out. What
else `jax.tree_util` has is in `srcjax.tree_util`.
"""

from srcjax.tree.functions import tree_all as all
from srcjax.tree.functions import tree_broadcast as broadcast
from srcjax.tree.functions import tree_flatten as flatten
from srcjax.tree.functions import tree_flatten_with_path as flatten_with_path
from srcjax.tree.functions import tree_leaves as leaves
from srcjax.tree.functions import tree_leaves_with_path as leaves_with_path
from srcjax.tree.functions import tree_map as map
from srcjax.tree.functions import tree_map_with_path as map_with_path
from srcjax.tree.functions import tree_reduce as reduce
from srcjax.tree.functions import tree_structure as structure
from srcjax.tree.functions import tree_transpose as transpose
from srcjax.tree.functions import tree_unflatten as unflatten

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "structure",
    "transpose",
    "unflatten",
]
