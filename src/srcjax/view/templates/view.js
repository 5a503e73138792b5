(() => {
"use strict";
const MOST = 8, NARROW = 14, WIDE = 16;
document.querySelectorAll('.srcjax-show[data-id="VIEW_ID"]:not([data-ready])').forEach(view => {
  view.dataset.ready = "";
  const one = (what, inside = view) => inside.querySelector(what);
  const all = (what, inside = view) => [...inside.querySelectorAll(what)];
  const data = JSON.parse(one(".data").textContent);
  const said = one(".said");
  const rows = new Map(all(".l").map(row => [row.dataset.k, row]));
  const panes = all(".pane");
  let pinned = null;

  // -- lines that belong together, and names ------------------------------------------

  function clear(...kinds) {
    kinds.forEach(kind => all("." + kind).forEach(e => e.classList.remove(kind)));
  }

  function outline(family) {
    clear("kin", "first", "final");
    if (family === null) return;
    all(`.l[data-f="${family}"]`).forEach(row => {
      const same = other => other && other.dataset.f === family;
      row.classList.add("kin");
      row.classList.toggle("first", !same(row.previousElementSibling));
      row.classList.toggle("final", !same(row.nextElementSibling));
    });
  }

  function point(name) {
    clear("use", "der");
    if (name === null) return "";
    const own = name.dataset.n, of = name.dataset.of;
    const uses = all(`i[data-n="${own}"]`), kin = all(`i[data-of="${own}"]`);
    uses.forEach(e => e.classList.add(of === undefined ? "use" : "der"));
    kin.forEach(e => e.classList.add("der"));
    if (of !== undefined) all(`i[data-n="${of}"]`).forEach(e => e.classList.add("use"));
    const derived = [...new Set(kin.map(e => e.textContent))];
    const primal = of === undefined ? null : one(`i[data-n="${of}"]`);
    const what = uses.length === 1 ? "1 use" : `${uses.length} uses`;
    let text = `${code(name.textContent)}: ${what}`;
    if (derived.length) text += `, derivative ${derived.map(code).join(", ")}`;
    if (primal) text += `, the derivative of ${code(primal.textContent)}`;
    return text;
  }

  const escape = text => text.replace(/[&<>]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[c]);
  const code = text => `<code>${escape(text)}</code>`;

  function tell(row, name) {
    const family = row && row.dataset.f !== undefined ? row.dataset.f : null;
    outline(family ?? pinned);
    const parts = [];
    const known = data.rules[family ?? pinned];
    if (known && known.length) {
      const own = row && data.said[row.dataset.k];
      const where = known[0], rules = own ? [own] : known.slice(1);
      parts.push(`<b>${escape(where)}</b>&ensp;${rules.map(escape).join(" &middot; ")}`);
    }
    else if (row && data.said[row.dataset.k]) parts.push(escape(data.said[row.dataset.k]));
    const pointed = point(name);
    if (pointed) parts.push(pointed);
    said.innerHTML = parts.join("<br>") || hint;
  }

  const hint = "Point at a line or a name, or go through them with the arrow keys; " +
    "a click or Enter keeps a line outlined and brings its other side into sight.";

  function show(pane, row) {
    const top = row.offsetTop - pane.offsetTop, title = 30;
    if (top - title < pane.scrollTop) pane.scrollTop = top - title;
    else if (top + row.offsetHeight > pane.scrollTop + pane.clientHeight - 8)
      pane.scrollTop = top + row.offsetHeight - pane.clientHeight / 2;
  }

  function pin(row) {
    const family = row.dataset.f;
    pinned = family === undefined || family === pinned ? null : family;
    tell(row, null);
    if (pinned === null) return;
    const other = panes.find(pane => !pane.contains(row));
    const first = one(`.l[data-f="${pinned}"]`, other);
    if (first && first.offsetParent) show(other, first);
  }

  panes.forEach(pane => {
    pane.addEventListener("mouseover", e => {
      const row = e.target.closest(".l");
      if (row) tell(row, e.target.closest("i[data-n]"));
    });
    pane.addEventListener("mouseleave", () => tell(null, null));
    pane.addEventListener("click", e => {
      const row = e.target.closest(".l");
      if (row && getSelection().isCollapsed) pin(row);
    });
    const first = one(".l[data-f]", pane);
    if (first) first.tabIndex = 0;
    let at = -1;
    pane.addEventListener("focusin", e => {
      const row = e.target.closest(".l");
      if (!row) return;
      at = -1;
      tell(row, null);
    });
    pane.addEventListener("keydown", e => {
      const row = e.target.closest(".l");
      if (!row) return;
      const list = all(".l[data-f]", pane).filter(r => r.offsetParent);
      const move = {ArrowDown: 1, ArrowUp: -1}[e.key];
      const side = {ArrowRight: 1, ArrowLeft: -1}[e.key];
      if (move) {
        const next = list[list.indexOf(row) + move];
        if (next) {
          row.tabIndex = -1;
          next.tabIndex = 0;
          next.focus({preventScroll: true});
          show(pane, next);
        }
      } else if (side) {
        const names = all("i[data-n]", row);
        at = Math.max(-1, Math.min(names.length - 1, at + side));
        tell(row, names[at] || null);
      } else if (e.key === "Enter") pin(row);
      else if (e.key === "Escape") { pinned = null; tell(null, null); }
      else return;
      e.preventDefault();
    });
  });

  // -- the run --------------------------------------------------------------------------

  const steps = data.steps || [], values = data.values || {};
  const over = {};
  steps.forEach(([line,,,,,, done]) => (over["R" + line] ||= []).push(done));

  // Lines that ran equally often in the same loops have columns of one width.
  const groups = {};
  Object.entries(values).forEach(([key, [group, count, names]]) => {
    const own = groups[group] ||= {keys: [], count: 0, name: 0, widths: [], wide: [], at: 0};
    own.count = Math.max(own.count, count);
    own.keys.push(key);
    Object.entries(names).forEach(([name, texts]) => {
      if (name.length <= NARROW) own.name = Math.max(own.name, name.length);
      texts.forEach((text, k) => {
        const size = text.length;
        if (size <= NARROW) own.widths[k] = Math.max(own.widths[k] || 0, size);
        own.wide[k] = Math.max(own.wide[k] || 0, Math.min(size, WIDE));
      });
    });
  });
  // How wide a letter is beside a line.
  function letter(place) {
    const probe = document.createElement("span");
    probe.textContent = "0".repeat(100);
    place.append(probe);
    const found = probe.getBoundingClientRect().width / 100 || 7.2;
    probe.remove();
    return found;
  }

  // The executions that there is room for, around the current one.
  function columns(own, pane, place) {
    const start = one(".n", place).offsetLeft - pane.offsetLeft;
    let left = (pane.clientWidth - start - 16) / letter(place) - own.name;
    let low = own.at, high = own.at;
    const all = own.wide.reduce((sum, size) => sum + size + 2, 0);
    if (all <= left && own.count <= MOST) return [...Array(own.count).keys()];
    left -= 3;
    const cost = k => k < 0 || k >= own.count ? Infinity : (own.wide[k] || 1) + 2;
    left -= cost(low);
    for (;;) {
      const before = cost(low - 1), after = cost(high + 1);
      const next = own.at - low < 2 || after > left ? before : after;
      if (high - low + 1 >= MOST || Math.min(before, after) > left) break;
      if (next === before && before <= left) { low--; left -= before; }
      else if (after <= left) { high++; left -= after; }
      else break;
    }
    const found = [];
    for (let k = low; k <= high; k++) found.push(k);
    if (low > 0) found.unshift(-1);
    if (high < own.count - 1) found.push(-1);
    return found;
  }

  function cells(key, shown, reached, current) {
    const [group, count, names] = values[key], own = groups[group];
    shown = shown.filter(k => k < count);
    return Object.entries(names).map(([name, texts]) => {
      const parts = shown.map(k => {
        if (k < 0) return "\u2026";
        const known = k < reached, text = known ? texts[k] : "\u00b7";
        const space = " ".repeat(Math.max(0, (own.widths[k] || 0) - text.length));
        const kind = k === current ? "now" : known ? "" : "gone";
        return (kind ? `<span class="${kind}">${escape(text)}</span>` : escape(text)) + space;
      });
      return `<span class="n">${escape(name.padEnd(own.name))} </span><span>${parts.join("  ")}</span>`;
    }).join("\n");
  }

  function write(step, now) {
    const done = key => key[0] === "R" && step ? over[key].filter(k => k <= step).length : Infinity;
    Object.values(groups).forEach(own => {
      if (!step) own.at = 0;
      else if (own.keys.includes(now[3])) { if (now[4] >= 0) own.at = now[4]; }
      else if (own.keys[0][0] === "R") {
        const most = Math.max(...own.keys.map(key => Math.min(done(key), own.count) - 1));
        own.at = own.keys.includes("R" + now[0]) ? now[2] : Math.max(0, most);
      }
      const first = own.keys.map(key => rows.get(key)).find(row => row && one(".v", row));
      if (!first) return;
      const pane = first.closest(".pane"), place = one(".v", first);
      const shown = columns(own, pane, place);
      own.keys.forEach(key => {
        const place = rows.get(key) && one(".v", rows.get(key));
        if (!place) return;
        const current = !now ? -1 : key === "R" + now[0] ? now[2] : key === now[3] ? now[4] : -1;
        place.innerHTML = cells(key, shown, done(key), current);
      });
    });
  }

  function at(step) {
    clear("lit");
    const now = step ? steps[step - 1] : null;
    write(step, now);
    if (!now) return steps.length === 1 ? "1 step" : `${steps.length} steps, all shown`;
    for (let line = now[0]; line <= now[1]; line++) rows.get("R" + line).classList.add("lit");
    show(panes[1], rows.get("R" + now[0]));
    const left = rows.get(now[3]);
    if (left) {
      left.classList.add("lit");
      show(panes[0], left);
    }
    return `${step} of ${steps.length}: ${now[5]}`;
  }

  // -- the stages -------------------------------------------------------------------------

  const text = one("pre.text"), stage = one("pre.stage"), list = data.stages.list;

  const title = one(".title", panes[1]), written = title.textContent;

  function through(k) {
    const found = list[k];
    text.hidden = !!found;
    stage.hidden = !found;
    title.textContent = found ? [found[0], found[1]].filter(Boolean).join(": ") : written;
    if (!found) return "the text";
    const [name, , marks, numbers] = found;
    const kinds = {"+": " add", "-": " cut", " ": ""};
    stage.innerHTML = numbers.map((n, i) =>
      `<span class="l w${kinds[marks[i]]}"><span class="no">${i + 1} </span>` +
      `<span class="c">${data.stages.lines[n]}</span>\n</span>`).join("");
    return `${k + 1} of ${list.length}: ${name}`;
  }

  function slider(kind, last, start, go) {
    const label = one("." + kind);
    if (!last) { label.hidden = true; return; }
    const input = one("input", label), told = one("output", label);
    input.max = last;
    input.value = start;
    const moved = () => {
      told.textContent = told.title = go(+input.value);
      input.setAttribute("aria-valuetext", told.textContent);
    };
    input.addEventListener("input", moved);
    if (kind === "steps") new ResizeObserver(moved).observe(view);
    all("button", label).forEach(b => b.addEventListener("click", e => {
      e.preventDefault();
      input.value = +input.value + +b.dataset.by;
      moved();
    }));
    moved();
  }

  slider("steps", steps.length, 0, at);
  slider("stages", list.length, list.length, through);
  one(".tools").hidden = !steps.length && !list.length;
  said.hidden = false;
  said.innerHTML = hint;
});
})();
