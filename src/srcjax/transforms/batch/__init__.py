"""Batch: a function of one example becomes a function of many.

- `lanes`: which names are mapped, and what they are for one example and for a batch
- `operations`: one operation on a batch
- `rules`: one statement
- `regions`: branches and loops that examples take on their own
- `entry`: the functions that come out
"""
