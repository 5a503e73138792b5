"""Derivatives and passes are checked by running them.

- `world`: what a run may change, put back after it
- `differences`: difference quotients, and how far they are to be believed
- `outcomes`: what a run gave, and how two differ
- `passes`: the text before and after every pass
"""
