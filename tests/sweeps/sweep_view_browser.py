"""The view in a browser: what its script does. Skipped where there is no Chromium.

A page is opened with a few lines of script at its end, which do what a reader does and
write down what there is to be seen; the browser prints the page as it is then.
"""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

import srcjax
from tests.view.test_show import VIEWS

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")

#: What readers do: words for scripts.
WORDS = """
const view = document.querySelector(".srcjax-show"), seen = {};
const all = what => [...view.querySelectorAll(what)];
const slide = (kind, to) => {
  const input = view.querySelector("." + kind + " input");
  input.value = to;
  input.dispatchEvent(new Event("input"));
};
const point = e => e.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
const press = (e, key) => e.dispatchEvent(
  new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const keys = what => all(what).map(e => e.dataset.k);
const code = e => e.querySelector(".c").textContent.trim();
const line = (side, text) =>
  all(`.${side} .l`).find(row => row.offsetParent && code(row) === text);
const said = () => view.querySelector(".said").textContent;
"""


def seen(tmp_path, name, does, size="1300,900", twice=False):
    """What a script writes into `seen` on the page of a view."""
    df, args = VIEWS[name]
    script = (
        "<pre id='seen'></pre><script>try{" + WORDS + does + "\n"
        "document.getElementById('seen').textContent = JSON.stringify(seen);"
        "}catch(e){document.getElementById('seen').textContent = "
        "JSON.stringify(String(e))}</script></body>"
    )
    view = srcjax.show(df, *args)
    more = view.html() if twice else ""
    page = view.page().replace("</body>", more + script)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    found = subprocess.run(
        [
            BROWSER,
            "--headless",
            *sandbox,
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={size}",
            "--dump-dom",
            (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    text = re.search(r"<pre id=\"seen\">(.*?)</pre>", found.stdout, re.S)
    assert text, found.stderr[-2000:]
    result = json.loads(html.unescape(text[1]))
    assert isinstance(result, dict), result
    return result


def test_pointing_at_lines_and_names(tmp_path):
    found = seen(
        tmp_path,
        "branch",
        """
        point(line("left", "y = x * x"));
        seen.kin = all(".right .kin").map(code);
        seen.rule = said();
        point(line("right", "return np.sin(y) * y, dx") || all(".right .l").at(-1));
        const y = all(".left i[data-n]").find(e => e.textContent === "y");
        point(y);
        seen.uses = all(".right i.use").map(e => e.textContent);
        seen.adjoints = all(".right i.der").map(e => e.textContent);
        seen.said = said();
        """,
    )
    assert "y = x * x" in found["kin"] and "dx = 2 * dy * x" in found["kin"]
    assert not any("-" in text for text in found["kin"])
    assert re.match(r"line \d+ of branch", found["rule"]) and "product" in found["rule"]
    assert set(found["uses"]) == {"y"} and set(found["adjoints"]) == {"dy"}
    assert "derivative dy" in found["said"]


def test_stepping(tmp_path):
    found = seen(
        tmp_path,
        "tape",
        """
        const input = view.querySelector(".steps input");
        seen.steps = +input.max;
        seen.all = code(line("left", "x = x + 0.1 * v * np.cos(x) + i"))
          + all(".left .v").map(e => e.textContent).join();
        slide("steps", 1);
        seen.lit = all(".lit").map(code);
        seen.gone = all(".right .gone").length;
        slide("steps", input.max - 2);
        seen.late = all(".lit").map(code);
        seen.now = all(".right .now").map(e => e.textContent);
        seen.told = view.querySelector(".steps output").textContent;
        all(".steps button")[0].click();
        seen.back = +input.value;
        slide("steps", 0);
        seen.none = all(".lit, .now, .gone").length;
        seen.wide = all(".pane").map(p => p.scrollWidth - p.clientWidth);
        """,
    )
    assert found["lit"] == ["x, v = 1.0, 0.0", "x = 1.0"] and found["gone"] > 10
    assert found["late"] == ["a = -k * x", "dx -= da * k"]
    assert len(found["now"]) == 1 and float(found["now"][0])
    assert f"{found['steps'] - 2} of" in found["told"] and "trip 5" in found["told"]
    assert found["back"] == found["steps"] - 3 and found["none"] == 0
    assert "0.9978" in found["all"]


def test_stages(tmp_path):
    found = seen(
        tmp_path,
        "mlp",
        """
        const input = view.querySelector(".stages input");
        slide("stages", 0);
        seen.first = all(".stage .c").map(e => e.textContent);
        seen.hidden = view.querySelector("pre.text").hidden;
        seen.changed = false;
        for (let k = 0; k < +input.max; k++) {
          slide("stages", k);
          seen.changed ||= all(".stage .add").length > 0;
        }
        slide("stages", input.max);
        seen.back = !view.querySelector("pre.text").hidden;
        """,
    )
    assert found["first"][0].startswith("def loss(params, x, y):")
    assert found["hidden"] and found["changed"] and found["back"]


def test_the_keyboard(tmp_path):
    found = seen(
        tmp_path,
        "jvp",
        """
        const focused = () => document.activeElement.dataset.k;
        const pane = view.querySelector(".left");
        seen.stops = pane.querySelectorAll('[tabindex="0"]').length;
        pane.querySelector('[tabindex="0"]').focus();
        seen.first = focused();
        press(document.activeElement, "ArrowDown");
        seen.second = focused();
        seen.kin = keys(".kin").includes(seen.second);
        press(document.activeElement, "ArrowRight");
        seen.use = all("i.use").length;
        press(document.activeElement, "Enter");
        pane.dispatchEvent(new MouseEvent("mouseleave"));
        seen.pinned = keys(".kin").length;
        press(document.activeElement, "Escape");
        seen.none = keys(".kin").length;
        """,
    )
    assert found["stops"] == 1 and found["first"] != found["second"]
    assert found["kin"] and found["use"] and found["pinned"] and not found["none"]


def test_one_view_twice_on_a_page(tmp_path):
    found = seen(
        tmp_path,
        "branch",
        """
        const both = [...document.querySelectorAll(".srcjax-show")];
        const input = both[1].querySelector(".steps input");
        input.value = 2;
        input.dispatchEvent(new Event("input"));
        seen.lit = both.map(v => v.querySelectorAll(".lit").length);
        """,
        twice=True,
    )
    assert found == {"lit": [0, 2]}


def test_a_narrow_page(tmp_path):
    found = seen(
        tmp_path,
        "vmap",
        """
        const [left, right] = all(".pane").map(p => p.getBoundingClientRect());
        seen.below = right.top >= left.bottom;
        seen.over = document.documentElement.scrollWidth > innerWidth;
        seen.ready = view.dataset.ready;
        """,
        size="600,900",
    )
    assert found == {"below": True, "over": False, "ready": ""}
