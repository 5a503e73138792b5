"""How control and values go through statements: in core form, and in written text.

- `control`: what runs in a statement with blocks, and how often. The one list of the
  kinds of statements that have them.
- `bindings`: names that statements bind, surely bind, and read before that.
- `mentions`: how often statements read each name.
- `positions`: which statement may run between which.
- `liveness`: what may be read later.
- `looking`: what looks at values without taking anything from them.

It knows names, and nothing of types: it stands below the other rooms.
"""
