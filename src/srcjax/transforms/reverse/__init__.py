"""Reverse mode: a forward sweep that saves, and a backward sweep that reads.

- `places`: where the adjoint of each value lives, and how contributions are added
- `rules`: the backward code of one statement
- `sweep`: the mirror image of branches and loops
- `saving`: which values the backward sweep reads, and how they reach it
- `entry`: the functions that come out (gradient, forward/backward pair)
"""
