// A chart of curves over one axis. Errors are bands. Each curve has its own dashes, so that colour is
// not needed.

import { h, s } from "./dom.js";
import { t } from "./texts.js";
import { short } from "./words.js";

const HEIGHT = 210;
const EDGE = { left: 44, right: 12, top: 10, bottom: 24 };
/** Curves with more points than this are thinned. */
const MOST_POINTS = 600;
/** The points of shorter curves are marked: a run by stages has few, at first a single one. */
const FEW_POINTS = 30;

/**
 * @typedef {{name: string, points: {x: number, y: number, error?: number}[], dots?: boolean}} Curve
 * @typedef {{title: string, about: string, curves: Curve[], xWord: string, yRange?: [number, number]}} Plot
 */

export class Chart {
  /** @type {?Plot} */
  #plot = null;
  #width = 0;
  #title = h("h3", {});
  #key = h("div", { class: "key" });
  #svg = s("svg", { role: "img", onpointermove: (event) => this.#point(event), onpointerleave: () => this.#point(null) });
  #scale = null;
  #about = h("p", { class: "soft" });
  element = h("section", { class: "card chart" }, this.#title, this.#about, this.#svg, this.#key);

  constructor() {
    new ResizeObserver(() => {
      const width = Math.round(this.#svg.clientWidth);
      if (width && width !== this.#width) {
        this.#width = width;
        this.#draw();
      }
    }).observe(this.#svg);
  }

  /** @param {Plot} plot */
  show(plot) {
    this.#plot = plot;
    this.#title.textContent = plot.title;
    this.#about.textContent = plot.about;
    this.#about.hidden = !plot.about;
    this.#draw();
  }

  #draw() {
    if (!this.#plot || !this.#width) return;
    const { curves, yRange, title, xWord } = this.#plot;
    const all = curves.flatMap(({ points }) => points);
    const x = linear(range(all.map((point) => point.x)), EDGE.left, this.#width - EDGE.right);
    const y = clamped(padded(yRange ?? usual(all)), HEIGHT - EDGE.bottom, EDGE.top);
    this.#scale = { x, y };
    this.#svg.setAttribute("viewBox", `0 0 ${this.#width} ${HEIGHT}`);
    this.#svg.setAttribute("aria-label", t("chart.label", { title, axis: xWord, values: curves.map(lastWord).join(", ") }));
    this.#svg.replaceChildren(...this.#axes(x, y), ...curves.flatMap((curve, index) => drawn(curve, index, x, y)));
    this.#showKey(null);
  }

  #axes(x, y) {
    const grid = (attributes) => s("line", { class: "grid", ...attributes });
    return [
      ...ticks(y.from, 5).flatMap((tick) => [
        grid({ x1: EDGE.left, x2: this.#width - EDGE.right, y1: y(tick), y2: y(tick) }),
        s("text", { x: EDGE.left - 6, y: y(tick) + 4, "text-anchor": "end" }, short(tick))]),
      ...ticks(x.from, Math.max(3, Math.floor(this.#width / 110))).map((tick) => s("text", { x: x(tick), y: HEIGHT - 6, "text-anchor": "middle" }, short(tick))),
    ];
  }

  /** Shows the values below the pointer. */
  #point(event) {
    if (!this.#scale || !this.#plot) return;
    this.#svg.querySelector(".at")?.remove();
    if (!event) {
      this.#showKey(null);
      return;
    }
    const box = this.#svg.getBoundingClientRect();
    const [from, to] = [EDGE.left, this.#width - EDGE.right];
    const at = Math.max(from, Math.min(to, event.clientX - box.left));
    const [low, high] = this.#scale.x.from;
    this.#showKey(low + (at - from) / (to - from) * (high - low));
    this.#svg.append(s("line", { class: "at", x1: at, x2: at, y1: EDGE.top, y2: HEIGHT - EDGE.bottom }));
  }

  #showKey(x) {
    const rows = this.#plot.curves.map((curve, index) => {
      const point = x === null ? curve.points.at(-1) : nearest(curve.points, x);
      const value = point ? `${short(point.y)}${point.error ? ` ± ${short(point.error)}` : ""}` : "";
      return h("span", {}, s("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" }, s("path", { class: kind(index), d: "M0 4H26" })),
        `${curve.name} ${value}`);
    });
    const place = x === null ? [] : [h("span", {}, t("chart.at", { x: short(x), axis: this.#plot.xWord }))];
    this.#key.replaceChildren(...rows, ...place);
  }
}

const kind = (index) => `c${index % 6} d${index % 6}`;

function drawn({ points, dots }, index, x, y) {
  const kept = thinned(points);
  const to = (list) => list.map(([px, py], at) => `${at ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("");
  const parts = [s("path", { class: `curve ${kind(index)}`, d: to(kept.map((point) => [x(point.x), y(point.y)])) })];
  if (kept.some(({ error }) => error)) {
    const above = kept.map((point) => [x(point.x), y(point.y + (point.error ?? 0))]);
    const below = kept.map((point) => [x(point.x), y(point.y - (point.error ?? 0))]).reverse();
    parts.unshift(s("path", { class: `band c${index % 6}`, d: `${to([...above, ...below])}Z` }));
  }
  if (dots || kept.length < FEW_POINTS) parts.push(...kept.map((point) => s("circle", { class: `c${index % 6}`, cx: x(point.x), cy: y(point.y), r: 2.5 })));
  return parts;
}

/** Means of neighbouring points, when there are more than can be seen. */
function thinned(points) {
  const size = Math.ceil(points.length / MOST_POINTS);
  if (size <= 1) return points;
  const groups = Array.from({ length: Math.ceil(points.length / size) }, (_, at) => points.slice(at * size, (at + 1) * size));
  const mean = (group, name) => group.reduce((sum, point) => sum + (point[name] ?? 0), 0) / group.length;
  return groups.map((group) => ({ x: mean(group, "x"), y: mean(group, "y"), error: mean(group, "error") }));
}

function nearest(points, x) {
  let found = null;
  for (const point of points) if (!found || Math.abs(point.x - x) < Math.abs(found.x - x)) found = point;
  return found;
}

// Not `Math.min(...values)`: a long run has more values than a call takes arguments.
function range(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low <= high ? [low, high] : [0, 1];
}

/** The range of the values without the rarest, so that one odd value does not flatten a curve. */
function usual(points) {
  const edges = points.flatMap(({ y, error = 0 }) => [y - error, y + error]).sort((a, b) => a - b);
  const cut = Math.floor(edges.length / 200);
  return range(edges.slice(cut, edges.length - cut));
}

function clamped(from, start, end) {
  const scale = linear(from, start, end);
  return Object.assign((value) => Math.max(end, Math.min(start, scale(value))), { from });
}

function padded([low, high]) {
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - (low === 0 ? 0 : margin), high + margin];
}

function linear([low, high], start, end) {
  const span = high - low || 1;
  return Object.assign((value) => start + (value - low) / span * (end - start), { from: [low, high] });
}

/** Round numbers in a range. */
function ticks([low, high], count) {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

function lastWord({ name, points }) {
  return points.length ? `${name} ${short(points.at(-1).y)}` : name;
}
