"""The computation as a picture: what is drawn, and that the picture is whole."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError


def roll(h, w, n):
    for _ in range(n):
        h = np.tanh(w * h) + 0.1
    return h


def branch(x):
    if x > 0:  # noqa: SIM108
        y = x * x
    else:
        y = -x
    return np.sin(y) * y


def network(W, b, x, y):
    z = x @ W + b
    h = np.tanh(z)
    error = h - y
    return np.sum(error * error)


def stencil(u):
    u = u.copy()
    for i in range(1, 3):
        u[i] = u[i - 1] * u[i]
    return u.sum()


def outputs(picture):
    return [
        (n.text, o.name, o.value, o.adjoint) for n in picture.nodes for o in n.outputs
    ]


def arrows(picture):
    return [(e.source.text, e.output.name, e.target.text) for e in picture.edges]


def test_values_and_adjoints():
    gradient = f"{srcjax.grad(branch)(1.3):.4g}"
    assert outputs(srcjax.graph(branch, 1.3)) == [
        ("x", "x", "1.3", gradient),
        ("y = x * x", "y", "1.69", "0.7919"),
        ("return np.sin(y) * y", "result", "1.678", "1.0"),
    ]
    assert arrows(srcjax.graph(branch, 1.3)) == [
        ("x", "x", "y = x * x"),
        ("y = x * x", "y", "return np.sin(y) * y"),
    ]


def test_iterations_stand_one_after_the_other():
    picture = srcjax.graph(roll, 0.4, 1.2, 3)
    line = "h = np.tanh(w * h) + 0.1"
    assert [n.text for n in picture.nodes] == ["h", "w", line, line, line, "return h"]
    dh, dw = srcjax.grad(roll, (0, 1))(0.4, 1.2, 3)
    (h,), (w,) = (n.outputs for n in picture.nodes[:2])
    assert (h.adjoint, w.adjoint) == (f"{dh:.4g}", f"{dw:.4g}")
    assert [e.target for e in picture.edges if e.source.text == "w"] == [
        n for n in picture.nodes if n.text == line
    ]


def test_arrays():
    r = np.random.default_rng(0)
    args = r.normal(size=(3, 2)), r.normal(size=2), r.normal(size=(5, 3))
    picture = srcjax.graph(network, *args, r.normal(size=(5, 2)))
    told = {name: adjoint for _, name, _, adjoint in outputs(picture)}
    assert told.keys() == {"W", "b", "x", "y", "z", "h", "error", "result"}
    db = srcjax.grad(network, 1)(*args, np.array(r.normal(size=(5, 2))) * 0)
    assert told["b"].startswith("[") and len(told["b"].split()) == len(db)
    assert told["h"].startswith("float64[5,2] norm ")


def test_arrays_written_in_place():
    picture = srcjax.graph(stencil, np.array([2.0, 3.0, 4.0]))
    gradient = srcjax.grad(stencil)(np.array([2.0, 3.0, 4.0]))
    assert picture.nodes[0].outputs[0].adjoint == f"[{' '.join(map(str, gradient))}]"
    assert [n.text for n in picture.nodes].count("u[i] = u[i - 1] * u[i]") == 2


def test_a_gradient_says_of_which_arguments():
    picture = srcjax.graph(srcjax.grad(roll, "w"), 0.4, 1.2, 3)
    assert picture.nodes[0].text == "h" and picture.nodes[0].outputs[0].adjoint


def test_the_picture_is_whole(tmp_path):
    picture = srcjax.graph(roll, 0.4, 1.2, 3)
    svg = ET.fromstring(str(picture))
    space = "{http://www.w3.org/2000/svg}"
    assert len(svg.findall(f"{space}rect")) == len(picture.nodes)
    # Every edge, and what stands out of the result.
    assert len(svg.findall(f"{space}path")) == len(picture.edges) + 1
    width, height = (float(svg.attrib[k]) for k in ("width", "height"))
    for rect in svg.findall(f"{space}rect"):
        x, y, w, h = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
        assert x >= 0 and x + w <= width and y >= 0 and y + h <= height
    words = [t.text for t in svg.findall(f"{space}text") if t.text]
    assert "h 0.4" in words and "dh 1.0" in words
    assert "<script" not in str(picture) and "prefers-color-scheme:dark" in str(picture)
    assert str(picture) in picture._repr_html_()
    picture.save(tmp_path / "roll.svg")
    assert (tmp_path / "roll.svg").read_text(encoding="utf-8") == str(picture)


def test_boxes_do_not_overlap():
    r = np.random.default_rng(0)
    args = r.normal(size=(3, 2)), r.normal(size=2), r.normal(size=(5, 3))
    for picture in (
        srcjax.graph(network, *args, r.normal(size=(5, 2))),
        srcjax.graph(roll, 0.4, 1.2, 4),
    ):
        svg = ET.fromstring(str(picture))
        boxes = [
            tuple(float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
            for rect in svg.iter("{http://www.w3.org/2000/svg}rect")
        ]
        for k, (x, y, w, h) in enumerate(boxes):
            for x2, y2, w2, h2 in boxes[:k]:
                assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_what_cannot_be_drawn():
    with pytest.raises(ArgumentError, match="return one real number, not"):
        srcjax.graph(np.copy, np.ones(3))
    with pytest.raises(ArgumentError, match="100 .*at most 40|at most 40"):
        srcjax.graph(roll, 0.4, 1.2, 100)
    with pytest.raises(ArgumentError, match="this is vmap of one"):
        srcjax.graph(srcjax.vmap(branch), np.ones(3))
    with pytest.raises(ArgumentError, match="no argument is a real number"):
        srcjax.graph(lambda n: 0.5 * n, 3)
