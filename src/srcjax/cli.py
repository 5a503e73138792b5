"""The command `srcjax`: what there is to see of a function in a file, and the demo."""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import inspect
import os
import shutil
import sys
import tempfile
import traceback
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import srcjax
from srcjax.api import reverse as api
from srcjax.backends.marks import transform_of
from srcjax.beside import terminal
from srcjax.beside.html import page
from srcjax.beside.terminal import has_colours, highlighted
from srcjax.errors import ArgumentError, SrcjaxError

__all__ = ["main"]

DONE, FAILED, USAGE = range(3)


class CommandError(Exception):
    """What the command was asked for cannot be done. The message is for the user."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; `argv` are its arguments, by default those of the process.

    Returns:
        The exit status: 0 done, 1 it failed (the reason is on standard error), 2 the
        arguments are wrong.
    """
    parser = _parser()
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:  # --help gives 0
        return stop.code if isinstance(stop.code, int) else USAGE
    try:
        status: int = options.run(options)
    except (CommandError, SrcjaxError) as error:
        print(f"srcjax: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # `srcjax grad ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="srcjax", description="Derivatives you can read, for plain NumPy."
    )
    parser.add_argument(
        "--version", action="version", version=f"srcjax {srcjax.__version__}"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser(
        "demo", help="read the gradient of an MLP, and train it on handwritten digits"
    )
    demo.add_argument(
        "--epochs", type=_positive, default=None, help="how long to train"
    )
    demo.set_defaults(run=_demo)

    grad = commands.add_parser(
        "grad",
        help="print or write the gradient of a function in a file",
        description="Print or write the gradient source of a function in a file. "
        "Type hints (float, np.ndarray) make it cleaner.",
    )
    _add_target(grad, output="write a module that imports only NumPy", value=True)
    _add_shapes(grad)
    grad.add_argument(
        "--explain",
        action="store_true",
        help="say in comments why each line is there",
    )
    grad.set_defaults(run=_grad)

    show = commands.add_parser(
        "show",
        help="show a function and its gradient side by side",
        description="Show a function and its gradient side by side, in the terminal or "
        "as a page for a browser, in which a run of the arguments can be stepped "
        "through.",
    )
    _add_target(show, value=True)
    _add_shapes(show)
    _add_args(show, required=False)
    _add_page(show)
    show.set_defaults(run=_show)

    trace = commands.add_parser(
        "trace",
        help="print the values of a run of the gradient, and measure its adjoints",
        description="Run the gradient of a function, and print what each line gives.",
    )
    _add_target(trace, value=True)
    _add_args(trace)
    trace.add_argument(
        "--check",
        action="store_true",
        help="compare each adjoint with a difference of the value that it belongs to",
    )
    _add_page(trace)
    trace.set_defaults(run=_trace)

    exercise = commands.add_parser(
        "exercise",
        help="print the gradient with gaps to fill in",
        description="Print or write the gradient of a function with `...` in the place "
        "of some right-hand sides.",
    )
    _add_target(exercise, output="write the text to a file")
    _add_shapes(exercise)
    exercise.add_argument(
        "--hide",
        nargs="+",
        type=_hidden,
        metavar="WHAT",
        default=["backward"],
        help="lines of the text, functions such as np.tanh, or backward (the default)",
    )
    exercise.set_defaults(run=_exercise)

    graph = commands.add_parser(
        "graph",
        help="draw the computation as an SVG file",
        description="Draw the lines of a run, with values and adjoints on the edges.",
    )
    _add_target(graph, output="the SVG file to write", suffix="svg")
    _add_args(graph)
    graph.set_defaults(run=_graph)
    return parser


def _add_target(
    parser: argparse.ArgumentParser,
    output: str = "",
    value: bool = False,
    suffix: str = "py",
) -> None:
    """What every command on a function takes."""
    parser.add_argument(
        "target",
        type=_target,
        metavar="FILE.py:FUNCTION",
        help="a function, or Class.method",
    )
    parser.add_argument(
        "--wrt",
        nargs="+",
        metavar="NAME",
        help="parameters to differentiate with respect to (default: the first)",
    )
    if output:
        parser.add_argument("-o", "--output", metavar=f"OUT.{suffix}", help=output)
    if value:
        parser.add_argument(
            "--value",
            action="store_true",
            help="return the value too: (value, gradient)",
        )


def _add_shapes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shapes",
        nargs="+",
        type=_shape,
        metavar="NAME=SIZES",
        default=[],
        help="shapes of arguments, such as W=n,h x=m,n: they make the text cleaner",
    )


def _add_args(parser: argparse.ArgumentParser, required: bool = True) -> None:
    parser.add_argument(
        "--args",
        nargs="+",
        metavar="VALUE",
        required=required,
        default=[],
        help="the arguments, as Python of names in the file and np: 0.5 'np.ones(3)'",
    )


def _add_page(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--html", metavar="OUT.html", help="write it as a page")
    parser.add_argument(
        "--open", action="store_true", help="open the page in a browser"
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def _target(text: str) -> tuple[Path, str]:
    file, colon, name = text.rpartition(":")
    if not colon or not file or not all(p.isidentifier() for p in name.split(".")):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not FILE.py:FUNCTION, for example model.py:loss"
        )
    return Path(file), name


def _shape(text: str) -> tuple[str, str]:
    name, equals, sizes = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SIZES such as x=m,n")
    return name, sizes


def _hidden(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _demo(options: argparse.Namespace) -> int:
    from srcjax import demo

    return demo.main(options.epochs)


def _grad(options: argparse.Namespace) -> int:
    path, name = options.target
    with loaded(path) as module:
        gradient = _gradient(module, options)
        if options.output is None:
            shapes = dict(options.shapes)
            if options.explain:  # what `source` of a parameter of that name cannot
                transform = transform_of(gradient, "srcjax.grad(f)")
                module = api.module_with_reasons(transform, (), shapes)
                text = api.explained(module, "", True)
            else:
                text = api.source(gradient, **shapes)
            sys.stdout.write(highlighted(text) if has_colours() else text)
            return DONE
        from srcjax.backends.export import export

        try:
            written = export(gradient, options.output, **dict(options.shapes))
        except OSError as error:
            raise CommandError(
                f"cannot write {options.output}: {error.strerror}"
            ) from None
        print(f"{written}: {gradient.__name__}")
    return DONE


def _gradient(module: ModuleType, options: argparse.Namespace) -> Callable:
    """The derivative that a command is about."""
    path, name = options.target
    function = find(module, name, path)
    value = getattr(options, "value", False)
    if hasattr(function, "__srcjax_transform__"):
        if options.wrt or value:
            raise CommandError(
                f"`{name}` in {path} is a derivative already, so --wrt and --value say "
                "nothing"
            )
        return function
    argnums = options.wrt or _first_parameter(function, name)
    if len(argnums) == 1:
        argnums = argnums[0]
    make = api.value_and_grad if value else api.grad
    return make(function, argnums=argnums)


def _show(options: argparse.Namespace) -> int:
    path, name = options.target
    if options.args and options.shapes:
        raise CommandError("--args and --shapes both say what the arguments are")
    with loaded(path) as module:
        args = _values(module, options.args)
        df = _gradient(module, options)
        if options.html or options.open:
            with run_of(name):
                view = srcjax.show(df, *args, **dict(options.shapes))
            return _as_page(options, view.name, view.html())
        text = api.source(df, *args, **dict(options.shapes))
        width = shutil.get_terminal_size((120, 40)).columns
        shown = terminal.side_by_side(text.original, text, width, has_colours())
        sys.stdout.write(shown)
    return DONE


def _trace(options: argparse.Namespace) -> int:
    path, name = options.target
    with loaded(path) as module:
        args = _values(module, options.args)
        df = _gradient(module, options)
        with run_of(name):
            found = srcjax.trace(df, *args, check=options.check)
        if options.html or options.open:
            _as_page(options, f"the values of {name}", found.html())
        else:
            print(found)
    return FAILED if found.wrong else DONE


@contextmanager
def run_of(name: str) -> Iterator[None]:
    """Says of what the user's function raises that it does. Raises CommandError."""
    try:
        yield
    except SrcjaxError:
        raise
    except Exception as error:
        where = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
        raise CommandError(
            f"the run of `{name}` fails: {type(error).__name__}: {error}{where}"
        ) from None


def _exercise(options: argparse.Namespace) -> int:
    path, _ = options.target
    with loaded(path) as module:
        hide = [
            what if isinstance(what, int) else _named(module, what)
            for what in options.hide
        ]
        df = _gradient(module, options)
        text = srcjax.exercise(df, hide=hide, **dict(options.shapes))
    if options.output is None:
        sys.stdout.write(highlighted(text) if has_colours() else text)
    else:
        _write(options.output, text)
        print(f"{options.output}: {len(text.hidden)} gaps")
    return DONE


def _graph(options: argparse.Namespace) -> int:
    path, name = options.target
    with loaded(path) as module:
        args = _values(module, options.args)
        function = find(module, name, path)
        given = _gradient(module, options) if options.wrt else function
        with run_of(name):
            picture = str(srcjax.graph(given, *args))
    if options.output is None:
        sys.stdout.write(picture)
    else:
        _write(options.output, picture)
        print(f"{options.output}: {name}")
    return DONE


def _values(module: ModuleType, texts: Sequence[str]) -> list[Any]:
    """What arguments on the command line stand for. Raises CommandError."""
    around = {"np": np, "numpy": np, **vars(module)}
    found = []
    for text in texts:
        try:
            found.append(eval(text, around))
        except Exception as error:
            raise CommandError(
                f"the argument `{text}`: {type(error).__name__}: {error}"
            ) from None
    return found


def _named(module: ModuleType, text: str) -> Any:
    """The function that `--hide` names; `backward` stands for itself."""
    if text == "backward":
        return text
    (value,) = _values(module, [text])
    if not callable(value):
        raise CommandError(f"`{text}` is no function, no line and not `backward`")
    return value


def _as_page(options: argparse.Namespace, title: str, body: str) -> int:
    """Write a page, and open it if that is asked for."""
    file = options.html
    if file is None:
        file = os.path.join(tempfile.mkdtemp(prefix="srcjax-"), "page.html")
    _write(file, page(title, body))
    print(f"{file}: {title}")
    if options.open and not webbrowser.open(Path(file).resolve().as_uri()):
        raise CommandError(f"no browser was found to open {file}")
    return DONE


def _write(file: str, text: str) -> None:
    """Raises CommandError where the file cannot be written."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"cannot write {file}: {error.strerror}") from None


def _first_parameter(function: Callable, name: str) -> list[Any]:
    """The parameter to differentiate by default: not the `self` of a method."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return [0]
    if "." in name and names and names[0] in ("self", "cls"):
        names = names[1:]
    if not names:
        raise ArgumentError(
            f"`{name}` has no parameter to differentiate with respect to",
            instead="a function of at least one argument",
        )
    return names[:1]


@contextmanager
def loaded(path: Path) -> Iterator[ModuleType]:
    """The module in a file. What the file imports is looked for beside it too.

    Raises CommandError if there is no such file, or it fails.
    """
    if not path.is_file():
        raise CommandError(f"there is no file {path}")
    file = path.resolve()
    name = file.stem
    known = sys.modules.get(name)
    while known is not None and getattr(known, "__file__", None) != str(file):
        name += "_"  # a file may have the name of a library: the library keeps it
        known = sys.modules.get(name)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise CommandError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    sys.modules[name] = module
    try:
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            raise CommandError(_load_failure(path, str(file), error)) from None
        yield module
    finally:
        if str(file.parent) in sys.path:
            sys.path.remove(str(file.parent))
        if known is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = known


def _load_failure(path: Path, file: str, error: BaseException) -> str:
    """Why a file cannot be loaded, and at which of its lines."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__)]
    files = [f.filename for f in traceback.extract_tb(error.__traceback__)]
    where = next(
        (n for n, f in reversed(list(zip(lines, files, strict=True))) if f == file),
        None,
    )
    if isinstance(error, SyntaxError) and error.filename == file:
        where = error.lineno
        return f"{path}, line {where}: {type(error).__name__}: {error.msg}"
    place = f", line {where}" if where else ""
    if isinstance(error, SystemExit):
        return f"{path}{place}: the file exits when it is loaded"
    return f"{path}{place}: {type(error).__name__}: {error}"


def find(module: ModuleType, name: str, path: Path) -> Callable:
    """The function of that name, `Class.method` too. Raises CommandError."""
    value: Any = module
    for i, part in enumerate(name.split(".")):
        owner = value
        # A classmethod or staticmethod is a plain function when it is looked up.
        value = getattr(owner, part, None)
        if value is None:
            within = "" if i == 0 else f" in {'.'.join(name.split('.')[:i])}"
            raise CommandError(
                f"{path} has no function `{part}`{within}{_suggestion(part, owner)}"
            )
    if isinstance(value, type) or not callable(value):
        kind = "a class" if isinstance(value, type) else f"`{value!r:.40}`"
        raise CommandError(
            f"`{name}` in {path} is {kind}, not a function{_suggestion('', value)}"
        )
    return value


def _suggestion(name: str, owner: Any) -> str:
    """What the user may have meant."""
    home = getattr(owner, "__name__", None)
    names = (
        [
            n
            for n, v in vars(owner).items()
            if callable(v)
            and not n.startswith("_")
            and (
                not isinstance(owner, ModuleType)
                or getattr(v, "__module__", "") == home
            )
        ]
        if hasattr(owner, "__dict__")
        else []
    )
    close = difflib.get_close_matches(name, names, 1)
    if close:
        return f"; did you mean `{close[0]}`?"
    return f"; it has {', '.join(names[:8])}" if names else ""
