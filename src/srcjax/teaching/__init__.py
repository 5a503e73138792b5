"""Tools to read, step through and teach with what transforms wrote.

- `statements`: which statement a line belongs to, and what it binds and reads
- `watching`: what a run executes, statement by statement
- `trace`, `measured`: the table of values of a run, and what differences say of it
- `showing`, `trace_text`, `trace_html`: how values and the table are printed
"""
