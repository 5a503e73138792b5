"""The text of literals, spelled as `ruff format` spells them."""

from __future__ import annotations

from typing import Any


def literal(value: Any, quote: str = '"') -> str:
    """The literal for a number, string, bytes or singleton."""
    if isinstance(value, str):
        return _string(value, quote)
    if isinstance(value, bytes):
        return _bytes(value, quote)
    if value is ...:
        return "..."
    if isinstance(value, complex) and value.real:
        sign = "-" if str(value.imag).startswith("-") else "+"
        return f"{literal(value.real)} {sign} {literal(complex(0, abs(value.imag)))}"
    if isinstance(value, float):
        return _float(value)
    return repr(value).replace("inf", "1e400").replace("e+", "e")


def _float(value: float) -> str:
    """The shortest text: `1e6` for 1000000.0, and `1e-6` for 1e-06."""
    text = repr(value).replace("inf", "1e400")
    digits, e, exponent = text.partition("e")
    if not e and abs(value) >= 1e5 and text.endswith("00000.0"):
        mantissa = text.removesuffix(".0").rstrip("0")
        exponent = str(len(text.removesuffix(".0")) - len(mantissa))
        digits, e = mantissa, "e"
    return f"{digits}e{int(exponent)}" if e else text


def preferred_quote(text: str, quote: str = '"') -> str:
    """The quote that needs fewer escapes in `text`; `quote` if neither does."""
    other = "'" if quote == '"' else '"'
    return other if text.count(quote) > text.count(other) else quote


def escaped(text: str, quote: str) -> str:
    """The text as it stands between the quotes of a string literal."""
    return _requoted([repr(piece)[1:-1] for piece in text.split("'")], quote)


def _requoted(pieces: list[str], quote: str) -> str:
    """Joins what single quotes separated, escaping the quotes of the literal."""
    if quote == "'":
        return "\\'".join(pieces)
    return "'".join(piece.replace('"', '\\"') for piece in pieces)


def _string(text: str, quote: str) -> str:
    quote = preferred_quote(text, quote)
    return quote + escaped(text, quote) + quote


def _bytes(value: bytes, quote: str) -> str:
    quote = preferred_quote(value.decode("latin-1"), quote)
    pieces = [repr(piece)[2:-1] for piece in value.split(b"'")]
    return f"b{quote}{_requoted(pieces, quote)}{quote}"


def docstring(text: str, indent: int) -> str:
    """A docstring in triple quotes, its lines re-indented to column `indent`."""
    lines = text.expandtabs().split("\n")
    margins = [len(s) - len(s.lstrip()) for s in lines[1:] if s.strip()]
    margin = min(margins, default=0)
    body = [lines[0].strip()] + [line[margin:].rstrip() for line in lines[1:]]
    while len(body) > 1 and not body[-1]:
        body.pop()
    closes_alone = len(body) > 1 and not lines[-1].strip()
    if body[0].startswith('"'):
        body[0] = " " + body[0]
    shown = "\n".join(
        " " * indent + line if line and index else line
        for index, line in enumerate(map(_docstring_line, body))
    )
    if closes_alone:
        shown += "\n" + " " * indent
    elif shown.endswith('"'):
        shown = shown[:-1] + '\\"'
    return f'"""{shown}"""'


def _docstring_line(line: str) -> str:
    # The two quotes make repr escape single quotes, and are taken off again.
    return repr(line + '"' + "'")[1:-4].replace("\\'", "'").replace('"""', '\\"\\"\\"')
