// Draws the report's plots as SVG from the JSON that the page carries. No library, no network.
// One Plot object a figure: it holds the visible range and which traces are shown, and draws all anew on a change.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { top: 22, right: 14, bottom: 42, left: 66 };
  const SYMLOG_THRESHOLD = 0.05;
  const SHAPES = { measured: "circle", gap: "square", o_s: "triangle", o_r: "diamond", placement: "circle" };
  const BINARY = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
  const DECIMAL = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "u"], [1e-9, "n"], [1e-12, "p"]];

  // ---- numbers as text
  const trimmed = (value, digits) => String(Number(value.toPrecision(digits)));
  const grouped = (value) => Math.round(value).toLocaleString("en-US");
  const si = (value, unit, digits) => {
    if (value === 0) return `0 ${unit}`;
    const [factor, prefix] = DECIMAL.find(([f]) => Math.abs(value) >= 0.9995 * f) || DECIMAL[DECIMAL.length - 1];
    return `${digits ? (value / factor).toPrecision(digits) : trimmed(value / factor, 6)} ${prefix}${unit}`;
  };
  const bytes = (value) => {
    const found = BINARY.find(([f]) => value >= f && value % f === 0);
    return found ? `${grouped(value / found[0])} ${found[1]}` : `${grouped(value)} B`;
  };
  const percent = (value, digits) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${trimmed(Math.abs(100 * value), digits || 3)} %`;
  const tickText = (value, unit) => {
    if (unit === "B") return bytes(value);
    if (unit === "ratio") return percent(value);
    return unit === "" ? grouped(value) : si(value, unit);
  };
  const valueText = (value, unit) => {
    if (unit === "B") return `${grouped(value)} B${value >= 1024 && value % 1024 === 0 ? ` (${bytes(value)})` : ""}`;
    if (unit === "ratio") return percent(value);
    return unit === "" ? grouped(value) : si(value, unit, 4);
  };

  // ---- scales: value -> a coordinate that is linear on screen, and back
  const SCALES = {
    linear: { to: (v) => v, from: (c) => c, ok: () => true },
    log: { to: (v) => Math.log10(v), from: (c) => 10 ** c, ok: (v) => v > 0 },
    symlog: { to: (v) => Math.asinh(v / SYMLOG_THRESHOLD), from: (c) => SYMLOG_THRESHOLD * Math.sinh(c), ok: () => true },
  };
  // A message of 0 bytes has its place on a logarithmic axis, one step left of the smallest size.
  const withZero = (scale, slot) => ({
    to: (v) => (v === 0 ? slot : scale.to(v)), from: (c) => scale.from(c), ok: (v) => v >= 0,
  });

  function niceStep(span, most, binary) {
    const base = binary ? 2 : 10;
    const power = base ** Math.floor(Math.log(span / most) / Math.log(base));
    const factors = binary ? [1, 2, 4] : [1, 2, 5, 10, 20];
    return power * factors.find((f) => span / (power * f) <= most);
  }
  function linearTicks(low, high, most, binary) {
    for (const closer of [most, 2 * most]) { // a range around 0 may have a single multiple of the first step
      const step = niceStep(high - low || 1, closer, binary);
      const ticks = [];
      for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step + 0); // + 0: never -0
      if (ticks.length > 1 && ticks.length < 100) return ticks;
    }
    return [low, high];
  }
  function logTicks(low, high, most, binary) {
    if (binary) {
      const first = Math.ceil(Math.log2(low) - 1e-9), last = Math.floor(Math.log2(high) + 1e-9);
      if (last - first < 1) return linearTicks(low, high, most, true);
      const step = [1, 2, 5, 10, 20].find((n) => (last - first + 1) / n <= most) || 40;
      const ticks = [];
      for (let e = Math.ceil(first / step) * step; e <= last; e += step) ticks.push(2 ** e);
      return ticks;
    }
    const decades = Math.log10(high / low);
    if (decades < 1) return linearTicks(low, high, most, false);
    const step = Math.ceil(decades / most);
    const factors = decades < most / 3 ? [1, 2, 5] : decades < most / 2 ? [1, 3] : [1];
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      if (e % step) continue;
      for (const f of factors) ticks.push(f * 10 ** e);
    }
    return ticks.filter((t) => t >= low * 0.999 && t <= high * 1.001);
  }
  function symlogTicks(low, high) {
    const steps = [0];
    for (const v of [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100, 1e3, 1e4, 1e5, 1e6]) steps.push(v, -v);
    const inside = steps.sort((a, b) => a - b).filter((t) => t >= low && t <= high);
    return inside.length > 1 ? inside : linearTicks(low, high, 5, false);
  }
  const whole = (ticks) => ticks.filter((t) => Number.isInteger(t));
  const ticksOf = (name, low, high, most, unit) => name === "linear" && unit === "" ? whole(linearTicks(low, high, Math.min(most, Math.max(2, high - low)), false)) : name === "linear" ? linearTicks(low, high, most, unit === "B")
    : name === "log" ? logTicks(low, high, most, unit === "B") : symlogTicks(low, high);

  // ---- elements
  function svg(tag, attributes, parent, text) {
    const element = document.createElementNS(SVG, tag);
    for (const key in attributes) if (attributes[key] !== undefined) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  }
  function html(tag, className, parent, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  }
  function button(parent, text, title, act) {
    const element = html("button", "tool", parent, text);
    element.type = "button";
    element.title = title;
    element.addEventListener("click", act);
    return element;
  }
  const round = (v) => Math.round(v * 100) / 100;
  function shapePath(shape, x, y, r) {
    const k = r * 1.2;
    if (shape === "square") return `M${round(x - r)} ${round(y - r)}h${2 * r}v${2 * r}h${-2 * r}z`;
    if (shape === "triangle") return `M${round(x)} ${round(y - k)}L${round(x + k)} ${round(y + r)}H${round(x - k)}z`;
    if (shape === "diamond") return `M${round(x)} ${round(y - k)}L${round(x + k)} ${round(y)}L${round(x)} ${round(y + k)}L${round(x - k)} ${round(y)}z`;
    return `M${round(x - r)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }

  const GROUPS = new Map(); // plots that share their x axis, by the group's name

  class Plot {
    constructor(holder, spec) {
      this.holder = holder;
      this.spec = spec;
      this.scale = { x: spec.x.scales[0], y: spec.y.scales[0] };
      this.shown = spec.traces.map((trace) => trace.visible);
      this.zoom = null; // in values: {x: [low, high], y: [low, high]}
      this.focus = null; // the x value that the crosshair is on
      if (spec.group) GROUPS.set(spec.group, [...(GROUPS.get(spec.group) || []), this]);
      this.build();
      this.draw();
      new ResizeObserver(() => { if (this.canvas.clientWidth !== this.width) this.draw(); }).observe(this.canvas);
    }

    build() {
      const { spec } = this;
      const bar = html("div", "plot-bar", this.holder);
      for (const axis of ["x", "y"]) if (spec[axis].scales.length > 1) this.addScaleToggle(bar, axis);
      this.resetButton = button(bar, "Reset zoom", "Show all (key 0, or double click)", () => this.setZoom(null));
      button(bar, "Save SVG", "Save this plot as an SVG file", () => this.save());
      this.canvas = html("div", "plot-canvas", this.holder);
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute("role", "application");
      this.canvas.setAttribute("aria-label", `${spec.y.label} over ${spec.x.label}. Arrow keys read the points, plus and minus zoom, 0 resets.`);
      this.tip = html("div", "plot-tip", this.holder);
      this.tip.hidden = true;
      this.live = html("div", "visually-hidden", this.holder);
      this.live.setAttribute("aria-live", "polite");
      this.buildLegend();
      this.canvas.addEventListener("pointermove", (e) => this.onMove(e));
      this.canvas.addEventListener("pointerdown", (e) => this.onDown(e));
      this.canvas.addEventListener("pointerup", (e) => this.onUp(e));
      this.canvas.addEventListener("pointercancel", () => this.endDrag());
      this.canvas.addEventListener("pointerleave", (e) => { if (!this.drag && e.pointerType !== "touch") this.setFocus(null); });
      this.canvas.addEventListener("dblclick", () => this.setZoom(null));
      this.canvas.addEventListener("keydown", (e) => this.onKey(e));
      this.canvas.addEventListener("blur", () => this.setFocus(null));
    }

    addScaleToggle(bar, axis) {
      const label = (name) => `${axis}: ${name === "symlog" ? "log" : name}`;
      const element = button(bar, label(this.scale[axis]), `Change the ${axis} axis's scale`, () => {
        const scales = this.spec[axis].scales;
        const chosen = scales[(scales.indexOf(this.scale[axis]) + 1) % scales.length];
        for (const plot of axis === "x" ? this.group() : [this]) plot.setScale(axis, chosen);
      });
      element.dataset.axis = axis;
      this.toggles = { ...this.toggles, [axis]: () => { element.textContent = label(this.scale[axis]); } };
    }

    group() { return GROUPS.get(this.spec.group) || [this]; }
    setScale(axis, name) {
      this.scale[axis] = name;
      this.toggles[axis]();
      this.draw();
    }

    buildLegend() {
      const legend = html("div", "legend", this.holder);
      legend.setAttribute("role", "group");
      legend.setAttribute("aria-label", "Series: choose which are drawn");
      this.keys = this.spec.traces.map((trace, i) => {
        const key = button(legend, "", "Click: hide or show. Double click: only this one.", () => this.toggle(i));
        key.className = `key colour-${trace.colour}`;
        const sample = svg("svg", { width: 26, height: 12, "aria-hidden": "true" }, key);
        this.drawSample(sample, trace);
        html("span", "", key, trace.name);
        key.addEventListener("dblclick", () => this.only(i));
        return key;
      });
      this.markKeys();
    }

    drawSample(parent, trace) {
      if (trace.kind === "line") svg("path", { d: "M1 6H25", class: "line" }, parent);
      if (trace.kind === "points" || trace.dots) svg("path", { d: shapePath(SHAPES[trace.colour], 13, 6, trace.dots ? 2 : 3.5), class: "point" }, parent);
    }

    toggle(i) { this.shown[i] = !this.shown[i]; this.markKeys(); this.draw(); }
    only(i) { this.shown = this.shown.map((_, j) => j === i); this.markKeys(); this.draw(); }
    markKeys() { this.keys.forEach((key, i) => key.setAttribute("aria-pressed", String(this.shown[i]))); }
    visible() { return this.spec.traces.filter((_, i) => this.shown[i]); }
    setZoom(zoom) {
      this.zoom = zoom;
      this.draw();
      for (const plot of this.group()) {
        if (plot === this) continue;
        plot.zoom = null;
        if (zoom) plot.zoom = { x: zoom.x, y: plot.range("y").map(plot.scaleOf("y").from) };
        plot.draw();
      }
    }

    // The range that is drawn: the zoom, or all visible points with a margin, in the axis's own coordinate.
    range(axis) {
      const scale = this.scaleOf(axis);
      if (this.zoom) return this.zoom[axis].map(scale.to);
      let low = Infinity, high = -Infinity;
      const take = (v) => { if (v !== null && v !== undefined && scale.ok(v)) { const c = scale.to(v); low = Math.min(low, c); high = Math.max(high, c); } };
      const traces = this.visible().length ? this.visible() : this.spec.traces;
      // With something measured to compare with, models may stretch the y range a little, not swamp it.
      const reference = axis === "y" && traces.find((trace) => trace.name === this.spec.reference);
      for (const trace of reference ? [reference] : traces) {
        trace[axis].forEach(take);
        // Among many small points, single wild whiskers would hide what is to be seen.
        if (axis === "y" && trace.spread && !this.spec.small) for (const q of [0, 3]) trace.spread[q].forEach(take);
      }
      if (reference) {
        const room = 0.35 * (high - low), floor = low - room, ceiling = high + room;
        for (const trace of traces) if (trace !== reference) trace.y.forEach((v) => { if (v !== null && scale.ok(v)) take(scale.from(Math.max(floor, Math.min(ceiling, scale.to(v))))); });
      }
      if (this.spec[axis].range) this.spec[axis].range.forEach(take);
      if (axis === "y" && this.spec.band) this.spec.band.forEach(take);
      if (!Number.isFinite(low)) return [scale.to(1), scale.to(10)];
      if (axis === "y" && this.scale.y === "linear" && low > 0) low = 0;
      const pad = (high - low) * (axis === "x" ? 0.02 : 0.06) || Math.abs(high) * 0.1 || 0.5;
      const isFloor = axis === "y" && this.scale.y === "linear" && low === 0;
      return [isFloor ? 0 : low - pad, high + pad];
    }

    scaleOf(axis) {
      const scale = SCALES[this.scale[axis]];
      if (axis !== "x" || this.scale.x !== "log") return scale;
      let least = Infinity, zero = false;
      for (const trace of this.spec.traces) for (const v of trace.x) { if (v > 0) least = Math.min(least, v); zero = zero || v === 0; }
      return zero && Number.isFinite(least) ? withZero(scale, Math.log10(least) - 0.3) : scale;
    }

    draw() {
      this.width = this.canvas.clientWidth || 640;
      const isBelow = this.holder.previousElementSibling?.classList.contains("plot");
      this.height = isBelow ? 190 : this.spec.small ? 230 : Math.max(270, Math.min(390, Math.round(this.width * 0.45)));
      this.inner = { w: this.width - MARGIN.left - MARGIN.right, h: this.height - MARGIN.top - MARGIN.bottom };
      const map = (axis, from, to) => {
        const scale = this.scaleOf(axis), [low, high] = this.range(axis);
        const pixels = (v) => from + ((scale.to(v) - low) / (high - low)) * (to - from);
        return { pixels, ok: scale.ok, low: scale.from(low), high: scale.from(high), value: (p) => scale.from(low + ((p - from) / (to - from)) * (high - low)) };
      };
      this.x = map("x", MARGIN.left, MARGIN.left + this.inner.w);
      this.y = map("y", MARGIN.top + this.inner.h, MARGIN.top);
      this.canvas.replaceChildren();
      this.svg = svg("svg", { width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}`, role: "img", "aria-label": `${this.spec.y.label} over ${this.spec.x.label}` }, this.canvas);
      const clip = `${this.spec.id}-clip`;
      svg("rect", { x: MARGIN.left, y: MARGIN.top, width: this.inner.w, height: this.inner.h }, svg("clipPath", { id: clip }, svg("defs", {}, this.svg)));
      this.drawAxes();
      const body = svg("g", { "clip-path": `url(#${clip})`, class: "body" }, this.svg);
      if (this.spec.band) this.drawBand(body);
      this.drawMarks(body);
      for (const trace of this.visible()) if (trace.kind === "line") this.drawLine(body, trace);
      for (const trace of this.visible()) if (trace.kind === "points") this.drawPoints(body, trace);
      this.overlay = svg("g", { class: "overlay" }, this.svg);
      this.resetButton.disabled = !this.zoom;
      if (this.focus !== null) this.setFocus(this.focus);
    }

    drawAxes() {
      const { spec, inner } = this;
      const bottom = MARGIN.top + inner.h, right = MARGIN.left + inner.w;
      const grid = svg("g", { class: "grid" }, this.svg), text = svg("g", { class: "ticks" }, this.svg);
      let end = -Infinity;
      const xTicks = ticksOf(this.scale.x, this.x.low, this.x.high, Math.max(2, Math.floor(inner.w / 54)), spec.x.unit);
      if (this.scale.x === "log" && spec.traces.some((t) => t.x.includes(0))) xTicks.unshift(0);
      for (const tick of xTicks) {
        const x = this.x.pixels(tick), label = tickText(tick, spec.x.unit), half = label.length * 3.4;
        if (!(x >= MARGIN.left - 0.5 && x <= right + 0.5)) continue;
        svg("path", { d: `M${round(x)} ${MARGIN.top}V${bottom}` }, grid);
        if (x - half < end + 8 || x + half > this.width) continue;
        svg("text", { x: round(x), y: bottom + 17, "text-anchor": "middle" }, text, label);
        end = x + half;
      }
      end = Infinity;
      for (const tick of ticksOf(this.scale.y, this.y.low, this.y.high, Math.max(2, Math.floor(inner.h / 44)), spec.y.unit)) {
        const y = this.y.pixels(tick);
        if (!(y >= MARGIN.top - 0.5 && y <= bottom + 0.5)) continue;
        svg("path", { d: `M${MARGIN.left} ${round(y)}H${right}`, class: tick === 0 && this.scale.y !== "log" ? "zero" : undefined }, grid);
        if (y + 14 > end) continue;
        svg("text", { x: MARGIN.left - 8, y: round(y + 4), "text-anchor": "end" }, text, tickText(tick, spec.y.unit));
        end = y;
      }
      svg("path", { d: `M${MARGIN.left} ${MARGIN.top}V${bottom}H${right}`, class: "frame" }, this.svg);
      svg("text", { x: MARGIN.left + inner.w / 2, y: this.height - 6, "text-anchor": "middle", class: "axis-label" }, this.svg, spec.x.label);
      svg("text", { x: 2, y: 13, class: "axis-label" }, this.svg, spec.y.label);
    }

    drawBand(parent) {
      const [low, high] = this.spec.band.map((v) => this.y.pixels(v));
      svg("rect", { x: MARGIN.left, y: round(high), width: this.inner.w, height: round(Math.max(0, low - high)), class: "band" }, parent);
    }

    drawMarks(parent) {
      const { left, top } = { left: MARGIN.left, top: MARGIN.top }, right = left + this.inner.w;
      const labels = [];
      for (const mark of this.spec.marks) {
        if (!this.x.ok(mark.low) || !this.x.ok(mark.high)) continue;
        const low = this.x.pixels(mark.low), high = this.x.pixels(mark.high), middle = (low + high) / 2;
        if (!(middle >= left && middle <= right)) continue;
        const group = svg("g", { class: `mark ${mark.kind}` }, parent);
        if (high - low > 1.5) svg("rect", { x: round(low), y: top, width: round(high - low), height: this.inner.h }, group);
        svg("path", { d: `M${round(middle)} ${top}V${top + this.inner.h}` }, group);
        labels.push({ mark, middle, atLeft: middle > left + this.inner.w * 0.6 });
      }
      if (this.spec.small) return;
      const words = svg("g", {}, parent), ink = this.ink();
      for (const { mark, middle, atLeft } of labels) {
        const group = svg("g", { class: `mark ${mark.kind}` }, words);
        const box = svg("text", { x: 0, y: 0 }, group, mark.label).getBBox();
        group.firstChild.remove();
        const place = this.freePlace(middle, atLeft, box, ink);
        if (!place) continue; // the tip of its sizes says it
        for (let x = 0; x <= box.width; x += 10) ink.push([place.x + x, place.y + box.height / 2]);
        svg("text", { x: round(place.x), y: round(place.y - box.y) }, group, mark.label);
      }
    }

    // Where points and lines are, a few pixels apart, so that no words stand on them.
    ink() {
      const places = [];
      for (const trace of this.visible()) {
        let last = null;
        trace.x.forEach((x, i) => {
          const y = trace.y[i];
          if (y === null || !this.x.ok(x) || !this.y.ok(y)) { last = null; return; }
          const here = [this.x.pixels(x), this.y.pixels(y)];
          const steps = last && trace.kind === "line" ? Math.min(200, Math.ceil(Math.hypot(here[0] - last[0], here[1] - last[1]) / 6)) : 1;
          for (let k = 1; k <= steps; k++) places.push(steps === 1 ? here : here.map((v, axis) => last[axis] + (v - last[axis]) * k / steps));
          last = here;
        });
      }
      return places;
    }

    // The highest row beside a mark, its usual side first, where words of that size are inside and on nothing.
    freePlace(middle, atLeft, { width, height }, ink) {
      const left = MARGIN.left + 4, right = MARGIN.left + this.inner.w - 4 - width;
      const sides = [middle + 6, middle - 6 - width].map((x) => Math.max(left, Math.min(right, x)));
      if (atLeft) sides.reverse();
      for (let y = MARGIN.top + 2; y + height < MARGIN.top + this.inner.h; y += height + 2)
        for (const x of sides)
          if (!ink.some(([a, b]) => a > x - 4 && a < x + width + 4 && b > y - 4 && b < y + height + 4)) return { x, y };
      return null;
    }

    drawLine(parent, trace) {
      const group = svg("g", { class: `trace colour-${trace.colour}`, "data-name": trace.name }, parent);
      const breaks = new Set(trace.breaks || []);
      let d = "", pen = false;
      trace.x.forEach((x, i) => {
        const y = trace.y[i];
        if (y === null || !this.x.ok(x) || !this.y.ok(y)) { pen = false; return; }
        d += `${pen && !breaks.has(i) ? "L" : "M"}${round(this.x.pixels(x))} ${round(this.y.pixels(y))}`;
        pen = true;
      });
      if (trace.area) this.drawArea(group, trace);
      else if (trace.low) this.drawBars(group, trace, trace.low, trace.high, "whisker");
      svg("path", { d, class: "line" }, group);
      if (trace.dots || trace.x.length === 1) this.drawDots(group, trace, 2);
    }

    drawArea(parent, trace) {
      const breaks = new Set(trace.breaks || []), pieces = [];
      let piece = [];
      trace.x.forEach((x, i) => {
        const known = trace.low[i] !== null && trace.high[i] !== null && this.x.ok(x) && this.y.ok(trace.high[i]);
        if (breaks.has(i) || !known) { pieces.push(piece); piece = []; }
        if (known) piece.push(i);
      });
      const bottom = MARGIN.top + this.inner.h;
      const at = (i, v) => `${round(this.x.pixels(trace.x[i]))} ${round(this.y.ok(v) ? this.y.pixels(v) : bottom)}`;
      const d = [...pieces, piece].filter((p) => p.length > 1).map((p) =>
        `M${p.map((i) => at(i, trace.high[i])).join("L")}L${[...p].reverse().map((i) => at(i, trace.low[i])).join("L")}z`).join("");
      if (d) svg("path", { d, class: "area" }, parent);
    }

    drawPoints(parent, trace) {
      const group = svg("g", { class: `trace colour-${trace.colour}`, "data-name": trace.name }, parent);
      const bar = (low, high, name) => this.drawBars(group, trace, low, high, name);
      if (trace.spread) {
        if (!this.spec.small) bar(trace.spread[0], trace.spread[3], "whisker");
        bar(trace.spread[1], trace.spread[2], this.spec.small ? "whisker" : "box");
      }
      else if (trace.low) bar(trace.low, trace.high, "whisker");
      this.drawDots(group, trace, trace.x.length > 120 || this.spec.small ? 1.8 : 3);
    }

    drawBars(parent, trace, low, high, name) {
      let d = "";
      trace.x.forEach((x, i) => {
        if (low[i] === null || high[i] === null || !this.x.ok(x) || !this.y.ok(low[i]) || !this.y.ok(high[i])) return;
        d += `M${round(this.x.pixels(x))} ${round(this.y.pixels(low[i]))}V${round(this.y.pixels(high[i]))}`;
      });
      if (d) svg("path", { d, class: name }, parent);
    }

    drawDots(parent, trace, radius) {
      let d = "";
      trace.x.forEach((x, i) => {
        const y = trace.y[i];
        if (y !== null && this.x.ok(x) && this.y.ok(y)) d += shapePath(SHAPES[trace.colour], this.x.pixels(x), this.y.pixels(y), radius);
      });
      svg("path", { d, class: "point" }, parent);
    }

    // ---- reading values
    positions() {
      const all = new Set();
      for (const trace of this.visible()) trace.x.forEach((x, i) => { if (trace.y[i] !== null && this.x.ok(x)) all.add(x); });
      const left = MARGIN.left - 1, right = MARGIN.left + this.inner.w + 1;
      return [...all].filter((x) => this.x.pixels(x) >= left && this.x.pixels(x) <= right).sort((a, b) => a - b);
    }

    setFocus(x) {
      this.focus = x;
      this.overlay.replaceChildren();
      this.tip.hidden = x === null;
      if (x === null) return;
      const at = this.x.pixels(x), bottom = MARGIN.top + this.inner.h;
      svg("path", { d: `M${round(at)} ${MARGIN.top}V${bottom}`, class: "crosshair" }, this.overlay);
      const reading = this.readings(x);
      for (const { trace, y } of reading) {
        if (!this.y.ok(y)) continue;
        const py = this.y.pixels(y);
        if (py < MARGIN.top - 1 || py > bottom + 1) continue;
        svg("circle", { cx: round(at), cy: round(py), r: 4.5, class: `halo colour-${trace.colour}` }, this.overlay);
      }
      this.fillTip(x, reading);
      this.placeTip(at);
    }

    readings(x) {
      const found = [];
      for (const trace of this.visible()) {
        const i = trace.x.indexOf(x);
        if (i >= 0 && trace.y[i] !== null) found.push({ trace, i, y: trace.y[i] });
      }
      return found;
    }

    fillTip(x, reading) {
      const { spec } = this;
      const label = reading.map(({ trace, i }) => trace.labels && trace.labels[i]).find(Boolean);
      this.tip.replaceChildren();
      html("strong", "", this.tip, label || (spec.x.unit === "" ? `${spec.x.label} ${grouped(x)}` : valueText(x, spec.x.unit)));
      const table = html("table", "", this.tip);
      const reference = spec.reference && reading.find(({ trace }) => trace.name === spec.reference);
      for (const { trace, i, y } of reading) {
        const row = html("tr", `colour-${trace.colour}`, table);
        html("td", "swatch", row);
        html("td", "", row, trace.name);
        html("td", "number", row, valueText(y, spec.y.unit));
        if (reference && reference.trace !== trace && reference.y > 0) html("td", "number", row, percent(y / reference.y - 1, 2));
        if (trace.low && trace.low[i] !== null && trace.high[i] !== null) this.tipLine(table, trace.area ? "19 of 20 times" : "95 % interval", trace.low[i], trace.high[i]);
        if (trace.spread && trace.spread[0][i] !== null) {
          this.tipLine(table, "quartiles", trace.spread[1][i], trace.spread[2][i]);
          this.tipLine(table, "5–95 %", trace.spread[0][i], trace.spread[3][i]);
        }
      }
      for (const mark of spec.marks) if (mark.kind === "change" && (x === mark.low || x === mark.high)) html("div", "note", this.tip, `protocol change ${mark.label}`);
      this.live.textContent = this.tip.innerText;
    }

    tipLine(table, name, a, b) {
      const unit = this.spec.y.unit, row = html("tr", "spread", table);
      html("td", "", row);
      html("td", "", row, name);
      const cell = html("td", "number", row, `${valueText(Math.min(a, b), unit)} … ${valueText(Math.max(a, b), unit)}`);
      cell.colSpan = 2;
    }

    placeTip(at) {
      const width = this.tip.offsetWidth, left = this.canvas.offsetLeft;
      const wanted = at + 14 + width > this.width ? at - 14 - width : at + 14;
      this.tip.style.left = `${left + Math.max(0, Math.min(wanted, this.width - width))}px`;
      const narrow = this.width < width + 260;
      this.tip.style.top = `${this.canvas.offsetTop + (narrow ? this.height + 4 : MARGIN.top + 6)}px`;
    }

    // ---- pointer and keys
    point(event) {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    onMove(event) {
      const [px, py] = this.point(event);
      if (this.drag) return this.drawDrag(px, py);
      const positions = this.positions();
      if (!positions.length || px < MARGIN.left - 8 || px > MARGIN.left + this.inner.w + 8) return this.setFocus(null);
      const distance = (x) => Math.abs(this.x.pixels(x) - px);
      this.setFocus(positions.reduce((best, x) => (distance(x) < distance(best) ? x : best)));
    }

    onDown(event) {
      if (event.pointerType === "touch") return this.onMove(event);
      if (event.button !== 0) return;
      this.drag = { from: this.point(event), box: svg("rect", { class: "drag", width: 0, height: 0 }, this.overlay) };
      this.canvas.setPointerCapture(event.pointerId);
    }

    drawDrag(px, py) {
      const [fx, fy] = this.drag.from, { left, top } = MARGIN;
      const x = [fx, px].map((v) => Math.max(left, Math.min(left + this.inner.w, v))).sort((a, b) => a - b);
      let y = [fy, py].map((v) => Math.max(top, Math.min(top + this.inner.h, v))).sort((a, b) => a - b);
      if (y[1] - y[0] < 24) y = [top, top + this.inner.h]; // a flat drag zooms along x only
      this.drag.area = { x, y };
      const box = { x: x[0], y: y[0], width: x[1] - x[0], height: y[1] - y[0] };
      if (!this.drag.box.isConnected) this.overlay.appendChild(this.drag.box);
      for (const key in box) this.drag.box.setAttribute(key, round(box[key]));
    }

    onUp() {
      const area = this.drag && this.drag.area;
      this.endDrag();
      if (!area || area.x[1] - area.x[0] < 8) return;
      this.setZoom({ x: area.x.map(this.x.value), y: [area.y[1], area.y[0]].map(this.y.value) });
    }

    endDrag() {
      if (this.drag) this.drag.box.remove();
      this.drag = null;
    }

    onKey(event) {
      const positions = this.positions();
      const at = positions.indexOf(this.focus);
      const steps = { ArrowRight: Math.min(positions.length - 1, at + 1), ArrowLeft: at < 0 ? positions.length - 1 : Math.max(0, at - 1), Home: 0, End: positions.length - 1 };
      if (event.key in steps && positions.length) this.setFocus(positions[steps[event.key]]);
      else if (event.key === "Escape") this.setFocus(null);
      else if (event.key === "+" || event.key === "=") this.zoomBy(0.5);
      else if (event.key === "-") this.zoomBy(2);
      else if (event.key === "0") this.setZoom(null);
      else return;
      event.preventDefault();
    }

    zoomBy(factor) {
      const left = MARGIN.left, middle = this.focus === null ? left + this.inner.w / 2 : this.x.pixels(this.focus);
      const x = [middle - (middle - left) * factor, middle + (left + this.inner.w - middle) * factor].map(this.x.value);
      this.setZoom({ x, y: [this.y.low, this.y.high] });
    }

    // ---- saving: a copy with the page's styles written into it
    save() {
      const copy = this.svg.cloneNode(true);
      const originals = this.svg.querySelectorAll("*"), copies = copy.querySelectorAll("*");
      const wanted = ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "fill-opacity", "opacity", "font-family", "font-size", "font-weight"];
      originals.forEach((element, i) => {
        const style = getComputedStyle(element);
        for (const name of wanted) copies[i].setAttribute(name, style.getPropertyValue(name));
      });
      copy.setAttribute("xmlns", SVG);
      copy.setAttribute("style", `background:${getComputedStyle(document.body).backgroundColor}`);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
      link.download = `${this.spec.id}.svg`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }
  }

  // ---- the page
  function followTheme(choice) {
    const next = { auto: "light", light: "dark", dark: "auto" };
    const stored = () => { try { return localStorage.getItem("chiplog-theme"); } catch { return null; } };
    const show = (theme) => {
      document.documentElement.dataset.theme = theme;
      choice.textContent = `Theme: ${theme}`;
    };
    show(stored() in next ? stored() : "auto");
    choice.addEventListener("click", () => {
      const theme = next[document.documentElement.dataset.theme];
      show(theme);
      try { localStorage.setItem("chiplog-theme", theme); } catch { /* a page from a file may have no storage */ }
    });
  }

  // The contents list shows where the reader is, and unfolds that part only.
  function followReading(contents) {
    const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.getAttribute("href").slice(1), link]));
    if (matchMedia("(max-width: 60rem)").matches) contents.querySelector("details").open = false;
    const sections = [...document.querySelectorAll("main section[id], main details[id]")];
    contents.classList.add("spy");
    const show = () => {
      const passed = sections.filter((section) => section.getBoundingClientRect().top < 120);
      const current = passed[passed.length - 1] || sections[0];
      links.forEach((link, id) => {
        const here = current && id === current.id;
        if (here) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
        link.parentElement.classList.toggle("current", link.parentElement.contains(links.get(current && current.id) || null));
      });
    };
    let waiting = false;
    addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; show(); });
    }, { passive: true });
    show();
  }

  // What an address points at is shown, however deep it is folded.
  function openTarget() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target && target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target) target.scrollIntoView();
  }

  function copyOnClick(element) {
    const text = element.nextElementSibling, label = element.textContent;
    const said = (words) => { element.textContent = words; setTimeout(() => { element.textContent = label; }, 1500); };
    const select = () => { getSelection().selectAllChildren(text); said("Selected: press Ctrl+C"); };
    element.addEventListener("click", () => {
      if (!navigator.clipboard) return select();
      navigator.clipboard.writeText(text.textContent).then(() => said("Copied"), select);
    });
  }

  // Plots in closed folds are drawn when these are opened.
  const plots = JSON.parse(document.getElementById("plots").textContent);
  const drawn = new Set();
  function drawOpen() {
    for (const holder of document.querySelectorAll("[data-plot]")) {
      if (drawn.has(holder) || holder.closest("details:not([open])")) continue;
      drawn.add(holder);
      holder.replaceChildren();
      new Plot(holder, plots[holder.dataset.plot]);
    }
  }
  drawOpen();
  document.addEventListener("toggle", drawOpen, true);
  // On paper nothing can be unfolded, so all is open there.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.fold:not([open]), details.notes:not([open])")];
    for (const fold of folded) fold.open = true;
    drawOpen();
  });
  addEventListener("afterprint", () => { for (const fold of folded) fold.open = false; });
  document.querySelectorAll("[data-copy]").forEach(copyOnClick);
  addEventListener("hashchange", openTarget);
  openTarget();
  followReading(document.querySelector("nav.contents"));
  followTheme(document.getElementById("theme"));
})();
