"""Random small programs: the right number or a loud refusal, never a wrong number.

`grammar` and `effects` write a program from a seed, `judging` compares its derivatives
with differences and with each other, `shrinking` makes a failure short, and
`python -m tests.programs` runs as many as there is time for.
"""
