"""Generating and calling in several threads at once."""

import gc
import importlib.util
import sys
import threading
import warnings
from weakref import WeakKeyDictionary

import numpy as np
import optree
import pytest

import srcjax
from srcjax.analysis import kept
from tests.corpus import scalar_programs

THREADS = 4

#: Some of the corpus, loops that are left in the middle among them.
SOME = [p for p in scalar_programs() if "whiles" in p.name or "exits" in p.name][::6]
SOME += scalar_programs()[::80]


@pytest.fixture
def impatient():
    """Threads that are switched between as often as Python can."""
    found = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(found)


def in_threads(work, count=THREADS):
    """What `work(number)` gives in as many threads that start together."""
    results, errors = {}, []
    start = threading.Barrier(count)

    def run(number):
        start.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error
    return [results[n] for n in range(count)]


def assert_equal(a, b):
    for one, other in zip(optree.tree_leaves(a), optree.tree_leaves(b), strict=True):
        np.testing.assert_array_equal(one, other)


def test_each_thread_generates_for_itself(impatient):
    def generated(program):
        df = srcjax.grad(program.function, program.argnums)
        return srcjax.source(df, *program.args()), df(*program.args())

    def work(number):
        turn = number * len(SOME) // THREADS  # not all at the same one
        return {p.name: generated(p) for p in SOME[turn:] + SOME[:turn]}

    alone = {p.name: generated(p) for p in SOME}
    for found in in_threads(work):
        for name, (text, value) in found.items():
            assert text == alone[name][0]
            assert_equal(value, alone[name][1])


def test_one_transform_is_called_first_by_all(impatient):
    made = {p: srcjax.grad(p.function, p.argnums) for p in SOME}

    def work(_):
        return [df(*p.args()) for p, df in made.items()]

    first, *others = in_threads(work)
    for other in others:
        assert_equal(first, other)


def test_objects_of_a_class_share_no_containers():
    """What a class holds is one for all threads: only tables that nobody changes."""
    found = {
        f"{cls.__module__}.{cls.__name__}.{name}"
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("srcjax.")
        and not module.__name__.startswith("srcjax._generated.")
        for cls in vars(module).values()
        if isinstance(cls, type) and cls.__module__ == module.__name__
        for name, value in vars(cls).items()
        if isinstance(value, (list, dict, set))
        and not name.endswith("_")
        and name != "_field_defaults"  # what any NamedTuple has
    }
    assert {name for name in found if not name.rpartition(".")[2].isupper()} == set()


#: Containers of modules that change after the import, and why threads may share them.
SHARED = {
    "_counts": "under a lock",
    "_loaded": "under a lock",
    "LAZY": "under a lock",
    "_BEGUN": "under a lock",
    "_CHILDREN": "what is put there twice is equal",
    "_PARTS": "what is put there twice is equal",
    "_BLOCK_FIELDS": "what is put there twice is equal",
    "_files": "what is put there twice is equal",
    "_KEPT": "any of what is put there serves",
    "LIFTED": "a function is in one thread until it is there",
    "NAMES_MADE": "what is put there twice is equal",
    "ADJOINTS_MADE": "what is put there twice is equal",
    "COUNTS_MADE": "what is put there twice is equal",
    "KEPT_MADE": "what is put there twice is equal",
    "JOINED_MADE": "what is put there twice is equal",
    "RESTS_ON": "a function is in one thread until it is there",
    "TREES_OF": "a module is in one thread until it is there",
    "_HELPERS": "what is put there twice is equal",
    "_TREES": "what is put there twice is equal",
    "_FIELDS": "what is put there twice is equal",
    "_KNOWN": "what is put there twice is equal",
    "_RECORDS": "what is put there twice is equal",
    "TABLE": "filled by imports, which have a lock",
    "COMPOSITES": "filled by imports, which have a lock",
    "REAL_COMPOSITES": "filled by imports, which have a lock",
    "REFUSED": "filled by imports, which have a lock",
    "_ALIVE": "only grows, by one step each",
}


def containers():
    """All lists, dicts and sets of modules, by the name of the first that has them."""
    return {
        f"{module.__name__}.{name}": value
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("srcjax.")
        and not module.__name__.startswith("srcjax._generated.")
        for name, value in list(vars(module).items())
        if isinstance(value, (list, dict, set, WeakKeyDictionary))
        and not name.startswith("__")
    }


def test_modules_share_no_containers_that_change():
    known = {id(value): name for name, value in reversed(containers().items())}
    before = {id(value): len(value) for value in containers().values()}
    for program in SOME:
        srcjax.grad(program.function, program.argnums)(*program.args())
    srcjax.hessian(cubed)(np.ones(2))
    srcjax.vmap(srcjax.grad(cubed))(np.ones((2, 2)))
    after = {id(value): len(value) for value in containers().values()}
    changed = {
        known[key].rpartition(".")[2] for key in before if before[key] != after.get(key)
    }
    assert changed <= SHARED.keys()


def cubed(x):
    return np.sum(x**3 * np.cosh(x))


def pulled(x):
    y, pullback = srcjax.vjp(cubed, x)
    return y * np.sum(pullback(1.0)[0])


@pytest.mark.parametrize(
    "transform",
    [
        lambda: srcjax.jvp(cubed, (np.ones(3),), (np.arange(3.0),)),
        lambda: srcjax.vjp(cubed, np.ones(3))[1](1.0),
        lambda: srcjax.linearize(cubed, np.ones(3))[1](np.arange(3.0)),
        lambda: srcjax.hessian(cubed)(np.arange(3.0)),
        lambda: srcjax.hvp(cubed, (np.ones(3),), (np.arange(3.0),)),
        lambda: srcjax.vmap(srcjax.grad(cubed))(np.arange(6.0).reshape(2, 3)),
        lambda: srcjax.grad(pulled)(np.arange(3.0)),
        lambda: srcjax.jvp(np.sinh, (2.0,), (1.0,)),
        lambda: srcjax.grad(lambda x: np.sum(srcjax.checkpoint(cubed)(x)))(np.ones(3)),
    ],
)
def test_what_is_kept_is_shared(transform, impatient, monkeypatch):
    """Also where it is thrown away again and again to keep it short."""
    monkeypatch.setattr(kept, "MOST", 1)
    alone = transform()
    for found in in_threads(lambda _: [transform() for _ in range(2)]):
        for each in found:
            assert_equal(each, alone)


def test_records_that_are_imported_when_they_are_needed(impatient):
    if importlib.util.find_spec("scipy") is None:
        pytest.skip("SciPy is not installed")
    from scipy import stats

    def density(x):
        return np.sum(stats.norm.logpdf(x))

    def work(_):
        return srcjax.grad(density)(np.arange(3.0))

    for found in in_threads(work):
        np.testing.assert_allclose(found, -np.arange(3.0))


def test_nothing_of_the_process_is_left_changed(impatient):
    filters, thresholds = list(warnings.filters), gc.get_threshold()
    in_threads(lambda n: srcjax.grad(SOME[n].function, 0)(*SOME[n].args()))
    assert warnings.filters == filters
    assert gc.get_threshold() == thresholds


def test_a_module_that_imports_while_another_is_loaded(tmp_path, monkeypatch):
    """One thread imports a module that generates; the other's text imports that."""
    (tmp_path / "slow_import.py").write_text(
        "import threading\n"
        "from srcjax.backends.load import load\n"
        "import meeting\n"
        "meeting.importing.set()\n"
        "meeting.loading.wait(5)\n"
        "value = load('x = 1', 'something').x\n"
    )
    (tmp_path / "meeting.py").write_text(
        "import threading\nimporting, loading = threading.Event(), threading.Event()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import meeting

    from srcjax.backends.load import load

    def work(number):
        if number == 0:
            import slow_import

            return slow_import.value
        meeting.importing.wait(5)
        text = "import meeting\nmeeting.loading.set()\nimport slow_import\n"
        return load(text, "importing").slow_import.value

    try:
        done = threading.Thread(target=in_threads, args=(work, 2), daemon=True)
        done.start()
        done.join(10)
        assert not done.is_alive(), "each waits for the other's lock"
    finally:
        for name in ("slow_import", "meeting"):
            sys.modules.pop(name, None)
