"""Transformations one after the other, and for some of the parameters only."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from srcjax import tree
from srcjax.optim.base import GradientTransformation


def chain(*transforms: GradientTransformation) -> GradientTransformation:
    """The transformations one after the other, the first one first.

    The state is the tuple of their states.
    """

    def init(params: Any) -> tuple:
        return tuple(t.init(params) for t in transforms)

    def update(updates: Any, state: tuple, params: Any = None) -> tuple:
        if len(state) != len(transforms):
            raise ValueError(
                f"the state is one of {len(state)} transformations, not of "
                f"{len(transforms)}: it comes from `init` of another optimiser"
            )
        new_state = []
        for transform, old in zip(transforms, state, strict=True):
            updates, new = transform.update(updates, old, params)
            new_state.append(new)
        return updates, tuple(new_state)

    return GradientTransformation(init, update)


class MaskedNode(NamedTuple):
    """Stands in a tree where parameters are left out: it has no leaves."""


class MaskedState(NamedTuple):
    """The state for the parameters that are not left out."""

    inner_state: Any


def masked(
    inner: GradientTransformation, mask: Any | Callable[[Any], Any]
) -> GradientTransformation:
    """The transformation for the parameters where the mask is True.

    The updates of the others stay as they are.

    Args:
        inner: what is done where the mask is True.
        mask: a tree of truth values of the structure of the parameters, or a prefix of
            it, or a function from the parameters to one.
    """

    def mask_of(params: Any) -> Any:
        return mask(params) if callable(mask) else mask

    def kept(chosen: Any, values: Any) -> Any:
        return tree.map(lambda m, v: v if m else MaskedNode(), chosen, values)

    def init(params: Any) -> MaskedState:
        return MaskedState(inner.init(kept(mask_of(params), params)))

    def update(updates: Any, state: MaskedState, params: Any = None) -> tuple:
        chosen = mask_of(updates)
        given = None if params is None else kept(chosen, params)
        new, inner_state = inner.update(kept(chosen, updates), state.inner_state, given)
        merged = tree.map(lambda m, n, u: n if m else u, chosen, new, updates)
        return merged, MaskedState(inner_state)

    return GradientTransformation(init, update)


class PartitionState(NamedTuple):
    """The states of the transformations, by label."""

    inner_states: Mapping[Hashable, Any]


def multi_transform(
    transforms: Mapping[Hashable, GradientTransformation],
    param_labels: Any | Callable[[Any], Any],
) -> GradientTransformation:
    """Another transformation for each group of parameters.

    Args:
        transforms: the transformations, by label.
        param_labels: a tree of labels of the structure of the parameters, or a prefix
            of it, or a function from the parameters to one.

    Raises:
        ValueError: a label has no transformation.
    """

    def labels_of(params: Any) -> Any:
        labels = param_labels(params) if callable(param_labels) else param_labels
        unknown = {label for label in tree.leaves(labels)} - {*transforms}
        if unknown:
            raise ValueError(f"there is no transformation for {sorted(unknown)}")
        return labels

    def group(labels: Any, label: Hashable) -> GradientTransformation:
        return masked(transforms[label], tree.map(lambda found: found == label, labels))

    def init(params: Any) -> PartitionState:
        labels = labels_of(params)
        states = {name: group(labels, name).init(params) for name in transforms}
        return PartitionState(states)

    def update(updates: Any, state: PartitionState, params: Any = None) -> tuple:
        labels = labels_of(updates)
        states = {}
        for name, old in state.inner_states.items():
            updates, states[name] = group(labels, name).update(updates, old, params)
        return updates, PartitionState(states)

    return GradientTransformation(init, update)


#: The same by the name that optax has for it now.
partition = multi_transform
