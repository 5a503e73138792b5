"""The first twenty minutes of somebody new: what they do, and what they see.

Another process that unpickles is `tests/sweeps/sweep_processes.py`.
"""

import importlib
import inspect
import io
import pdb
import pickle
import pydoc
import sys
import types

import numpy as np
import pytest

import srcjax

SCRIPT = '''
import numpy as np
import srcjax

RATE = 2.0


def model(w, x):
    return np.tanh(x @ w)


def loss(w, x, y):
    """How far the model is from the data."""
    error = model(w, x) - y  # the residuals
    return np.mean(error**2) * RATE


grad_loss = srcjax.grad(loss)


@srcjax.grad
def force(x):
    """What pulls at `x`."""
    return 0.5 * x**2
'''


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A file as they write it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first_script.py").write_text(SCRIPT)
    yield importlib.import_module("first_script")
    sys.modules.pop("first_script")


W, X, Y = np.array([0.1, 0.2]), np.eye(2), np.array([1.0, 0.0])


def numeric(f, w, *args):
    steps = 1e-6 * np.eye(len(w))
    return np.array([f(w + s, *args) - f(w - s, *args) for s in steps]) / 2e-6


def test_they_decorate_and_call(script):
    assert script.force(3.0) == 3.0
    wanted = numeric(script.loss, W, X, Y)
    np.testing.assert_allclose(script.grad_loss(W, X, Y), wanted, rtol=1e-6)
    np.testing.assert_allclose(script.grad_loss(w=W, x=X, y=Y), wanted, rtol=1e-6)
    assert script.force.__wrapped__(3.0) == 4.5


def test_they_read(script):
    assert "def grad_loss(w, x, y):" in srcjax.source(script.grad_loss)
    typed = srcjax.source(script.grad_loss, W, X, Y)
    assert "for w: (n,), x: (m, n), y: (m,)" in typed and "unbroadcast" not in typed
    assert "# return np.mean(error**2) * RATE" in typed
    script.grad_loss(W, X, Y)
    assert srcjax.source(script.grad_loss) == typed
    assert inspect.getsource(script.grad_loss) in typed
    assert typed._repr_html_().count("grad_loss") >= 2


def test_they_ask_for_help(script):
    script.grad_loss(W, X, Y)
    shown = pydoc.plain(pydoc.render_doc(script.grad_loss))
    assert "grad_loss(w, x, y)" in shown
    assert "Gradient of loss with respect to w" in shown
    assert "How far the model is from the data." in shown
    assert "return" in shown and "dispatched" not in shown
    assert "What pulls at `x`." in pydoc.render_doc(script.force)


def test_they_press_tab():
    shown = [n for n in dir(srcjax) if not n.startswith("_")]
    assert {"grad", "vmap", "jit", "source", "testing"} <= set(shown)
    assert not {"analysis", "frontend", "late", "importlib"} & set(shown)


def test_they_redefine_what_it_calls(script):
    before = script.grad_loss(W, X, Y)
    script.RATE = 4.0
    np.testing.assert_allclose(script.grad_loss(W, X, Y), 2 * before)
    assert "4.0" in srcjax.source(script.grad_loss, W, X, Y)
    text = "def model(w, x):\n    return x @ w\n"
    (path := script.__file__.replace("first_script", "second_script"))
    with open(path, "w") as file:
        file.write(text)
    exec(compile(text, path, "exec"), vars(script))
    wanted = numeric(script.loss, W, X, Y)
    np.testing.assert_allclose(script.grad_loss(W, X, Y), wanted, rtol=1e-6)


def test_they_export(script, tmp_path):
    path = srcjax.export(script.grad_loss, "out.py", W, X, Y)
    text = path.read_text()
    assert "import srcjax" not in text and "from srcjax" not in text
    space = {}
    exec(compile(text, str(path), "exec"), space)
    np.testing.assert_array_equal(
        space["grad_loss"](W, X, Y), script.grad_loss(W, X, Y)
    )


def stepped(call, *commands):
    """What pdb shows."""
    shown = io.StringIO()
    typed = io.StringIO("\n".join(commands) + "\n")
    debugger = pdb.Pdb(stdin=typed, stdout=shown, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    trace = sys.gettrace()
    try:
        call(debugger)
    finally:
        debugger.clear_all_breaks()
        sys.settrace(trace)
    return shown.getvalue()


def test_they_step(script, monkeypatch):
    d = script.grad_loss
    d(W, X, Y)
    names = {"d": d, "args": (W, X, Y)}
    shown = stepped(
        lambda p: p.run("d(*args)", names, {}),
        *("b d.__wrapped__", "c", "n", "l", "p x.shape", "c"),
    )
    assert "-> model_value = np.tanh(x @ w)" in shown
    assert "(2, 2)" in shown and "Breakpoint " in shown

    def stopping(x):
        y = x * x
        breakpoint()
        return np.sin(y)

    def here(debugger):
        monkeypatch.setattr(
            sys, "breakpointhook", lambda: debugger.set_trace(sys._getframe(1))
        )
        srcjax.grad(stopping)(2.0)

    shown = stepped(here, "p y", "c")
    assert "-> dy = np.cos(y)" in shown and "4.0" in shown


def test_they_pickle(script):
    for made in (script.grad_loss, script.force, srcjax.vmap(script.force)):
        assert pickle.loads(pickle.dumps(made)) is made


def test_they_make_mistakes(script):
    mistakes = {
        "no option `argnum`": lambda: srcjax.grad(script.loss, argnum=1),
        "argnums=3, but loss has 3": lambda: srcjax.grad(script.loss, argnums=3),
        "grad needs a function, not float": lambda: srcjax.grad(0.5),
        "was not made by srcjax": lambda: srcjax.source(script.loss),
        "grad_loss() missing 2": lambda: script.grad_loss(W),
        "only real and complex numbers": lambda: script.grad_loss(np.arange(2), X, Y),
        "grad needs one real number": lambda: srcjax.grad(np.sin)(W),
        "do not fit together": lambda: script.grad_loss(W, X, np.ones(3)),
    }
    for told, mistake in mistakes.items():
        with pytest.raises(TypeError) as caught:
            mistake()
        assert told in str(caught.value)
    assert isinstance(srcjax.testing, types.ModuleType)
