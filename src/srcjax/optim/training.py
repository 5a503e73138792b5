"""What stands around an optimiser in a training loop."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from srcjax import tree
from srcjax.optim.base import GradientTransformation, zeros_like


def incremental_update(new_tensors: Any, old_tensors: Any, step_size: Any) -> Any:
    """A moving mean of parameters: `step_size * new + (1 - step_size) * old`.

    Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992.
    """
    return tree.map(
        lambda new, old: step_size * new + (1.0 - step_size) * old,
        new_tensors,
        old_tensors,
    )


def periodic_update(
    new_tensors: Any, old_tensors: Any, steps: int, update_period: int
) -> Any:
    """The new parameters after every `update_period` steps, the old ones else."""
    return new_tensors if steps % update_period == 0 else old_tensors


class ZeroNansState(NamedTuple):
    """Where there was a NaN in the last updates."""

    found_nan: Any


def zero_nans() -> GradientTransformation:
    """Updates with 0 in place of NaN."""

    def init(params: Any) -> ZeroNansState:
        return ZeroNansState(tree.map(lambda p: False, params))

    def update(updates: Any, state: ZeroNansState, params: Any = None) -> tuple:
        found = tree.map(lambda u: np.any(np.isnan(u)), updates)
        new = tree.map(lambda u: np.where(np.isnan(u), np.zeros_like(u), u), updates)
        return new, ZeroNansState(found)

    return GradientTransformation(init, update)


class ApplyIfFiniteState(NamedTuple):
    """How often updates were not finite, of late and in all, and the inner state."""

    notfinite_count: int
    last_finite: bool
    total_notfinite: int
    inner_state: Any


def apply_if_finite(
    inner: GradientTransformation, max_consecutive_errors: int
) -> GradientTransformation:
    """The transformation, and no step where an update is infinite or NaN.

    After `max_consecutive_errors` of these in a row the next one is made all the same.
    """

    def init(params: Any) -> ApplyIfFiniteState:
        return ApplyIfFiniteState(0, True, 0, inner.init(params))

    def update(updates: Any, state: ApplyIfFiniteState, params: Any = None) -> tuple:
        finite = all(bool(np.all(np.isfinite(u))) for u in tree.leaves(updates))
        row = 0 if finite else state.notfinite_count + 1
        total = state.total_notfinite + (not finite)
        if finite or row > max_consecutive_errors:
            new, inner_state = inner.update(updates, state.inner_state, params)
        else:
            new, inner_state = zeros_like(updates), state.inner_state
        return new, ApplyIfFiniteState(row, finite, total, inner_state)

    return GradientTransformation(init, update)


class MultiStepsState(NamedTuple):
    """Gradients since the last step, how many they are, and the inner state."""

    mini_step: int
    gradient_step: int
    inner_opt_state: Any
    acc_grads: Any


class MultiSteps:
    """A step for every `every_k_schedule` gradients: for batches that do not fit.

    Args:
        opt: what makes the steps.
        every_k_schedule: how many gradients a step is made of, or a function from the
            number of steps that were made to that.
        use_grad_mean: whether a step is made of their mean; else of their sum.
    """

    def __init__(
        self,
        opt: GradientTransformation,
        every_k_schedule: int | Callable[[int], int],
        use_grad_mean: bool = True,
    ) -> None:
        self.inner_opt = opt
        self.every_k = every_k_schedule
        self.use_grad_mean = use_grad_mean

    def init(self, params: Any) -> MultiStepsState:
        """The state before the first gradient."""
        return MultiStepsState(0, 0, self.inner_opt.init(params), zeros_like(params))

    def update(self, updates: Any, state: MultiStepsState, params: Any = None) -> tuple:
        """The updates of a step; zeros where it is not its turn."""
        every = self.every_k
        wanted = every(state.gradient_step) if callable(every) else every
        count = state.mini_step + 1

        def gathered(total: Any, g: Any) -> Any:
            return total + ((g - total) / count if self.use_grad_mean else g)

        total = tree.map(gathered, state.acc_grads, updates)
        if count < wanted:
            return zeros_like(updates), state._replace(mini_step=count, acc_grads=total)
        new, inner = self.inner_opt.update(total, state.inner_opt_state, params)
        steps = state.gradient_step + 1
        return new, MultiStepsState(0, steps, inner, zeros_like(updates))

    def has_updated(self, state: MultiStepsState) -> bool:
        """Whether the last gradient made a step."""
        return state.mini_step == 0 and state.gradient_step > 0

    def gradient_transformation(self) -> GradientTransformation:
        """The two functions."""
        return GradientTransformation(self.init, self.update)


class InjectHyperparamsState(NamedTuple):
    """The number of steps, the numbers of the next one, and the inner state."""

    count: int  # type: ignore[assignment]
    hyperparams: dict
    inner_state: Any


def inject_hyperparams(
    inner_factory: Callable[..., GradientTransformation],
    static_args: str | Iterable[str] = (),
) -> Callable[..., GradientTransformation]:
    """An optimiser whose numbers are in its state: `inject_hyperparams(adam)(0.1)`.

    They may be looked at and written (`state.hyperparams["learning_rate"] = 0.1`), and
    those that are given as schedules are computed for each step.

    Args:
        inner_factory: makes the transformation: `adam`.
        static_args: names of arguments that are no such numbers.
    """
    static = {static_args} if isinstance(static_args, str) else set(static_args)
    signature = inspect.signature(inner_factory)

    def made(*args: Any, **kwargs: Any) -> GradientTransformation:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        own = {k: v for k, v in given.items() if k not in static}
        schedules = {k: v for k, v in own.items() if callable(v)}
        numbers = {
            k: v
            for k, v in own.items()
            if isinstance(v, (int, float, np.ndarray, np.generic))
            and not isinstance(v, bool)
        }

        def inner(found: dict) -> GradientTransformation:
            call = inspect.BoundArguments(signature, type(given)(given | found))
            return inner_factory(*call.args, **call.kwargs)

        def at(count: int) -> dict:
            return {name: schedule(count) for name, schedule in schedules.items()}

        def init(params: Any) -> InjectHyperparamsState:
            found = numbers | at(0)
            return InjectHyperparamsState(0, found, inner(found).init(params))

        def update(
            updates: Any, state: InjectHyperparamsState, params: Any = None
        ) -> tuple:
            found = state.hyperparams | at(state.count)
            new, inner_state = inner(found).update(updates, state.inner_state, params)
            return new, InjectHyperparamsState(state.count + 1, found, inner_state)

        return GradientTransformation(init, update)

    return made
