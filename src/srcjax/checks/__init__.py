"""Derivatives and passes are checked by running them.

- `world`: what a run may change, put back after it
- `outcomes`: what a run gave, and how two differ
- `passes`: the text before and after every pass
"""
