// The value by ply as a graph that can be dragged, and below it the discs that each side has lost.

import { s } from "./dom.js";
import { cumulated, lossOf, valueOf } from "./losses.js";
import { t } from "./texts.js";
import { sideWord, signed } from "./words.js";

const LEFT = 34;
const RIGHT = 10;
const TOP = { y: 8, height: 150 };
const BELOW = { y: 180, height: 62 };
const HEIGHT = 262;
/** The scale shows at least this many discs. */
const LEAST_DISCS = 12;

export class ValueGraph {
  #onply;
  #line = [];
  #player = "";
  #now = 0;
  #width = 0;
  element;

  /** @param {(ply: number) => void} onply called while the graph is dragged */
  constructor(onply) {
    this.#onply = onply;
    this.element = s("svg", {
      class: "graph", role: "slider", tabindex: 0, "aria-label": t("graph.title"),
      onpointerdown: (event) => {
        this.element.setPointerCapture(event.pointerId);
        this.#drag(event);
      },
      onpointermove: (event) => { if (this.element.hasPointerCapture(event.pointerId)) this.#drag(event); },
    });
    new ResizeObserver(() => {
      const width = Math.round(this.element.clientWidth);
      if (width && width !== this.#width) {
        this.#width = width;
        this.#draw();
      }
    }).observe(this.element);
  }

  /** @param {import("./tree.js").Node[]} line @param {string} player @param {number} now the current ply */
  show(line, player, now) {
    this.#line = line;
    this.#player = player;
    this.#now = now;
    this.#draw();
  }

  #drag(event) {
    const box = this.element.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (this.#width - LEFT - RIGHT);
    const ply = Math.round(share * (this.#line.length - 1));
    const chosen = Math.max(0, Math.min(this.#line.length - 1, ply));
    if (chosen !== this.#now) this.#onply(chosen);
  }

  #draw() {
    if (!this.#width || !this.#line.length) return;
    const values = this.#line.map((node) => valueOf(node, this.#player));
    const isInDiscs = values.some((value) => value && value.score !== null)
      && values.every((value) => !value || value.score !== null);
    const height = (value) => (isInDiscs ? value.score : value.win === null ? null : (value.win - 0.5) * 100);
    const points = values.map((value, ply) => (value && height(value) !== null
      ? { ply, value: height(value), spread: isInDiscs ? value.spread : 0, exact: value.exact } : null));
    const known = points.filter(Boolean);
    const parts = unbroken(points);
    const most = isInDiscs
      ? Math.max(LEAST_DISCS, ...known.map(({ value, spread }) => Math.abs(value) + spread)) : 50;
    const x = (ply) => LEFT + ply * (this.#width - LEFT - RIGHT) / Math.max(1, this.#line.length - 1);
    const y = (value) => TOP.y + TOP.height / 2 - value / most * TOP.height / 2;
    this.element.setAttribute("viewBox", `0 0 ${this.#width} ${HEIGHT}`);
    this.element.replaceChildren(
      ...this.#axes(x, y, most, isInDiscs),
      ...areas(parts, x, y),
      s("path", { class: "band", d: parts.map((part) => band(part, x, y)).join("") }),
      s("path", { class: "value", d: parts.map((part) => path(part.map(({ ply, value }) => [x(ply), y(value)]))).join("") }),
      s("path", { class: "lone", d: parts.filter((part) => part.length === 1).map(([{ ply, value }]) => path([[x(ply), y(value)]])).join("") }),
      ...this.#marks(points, x, y),
      ...this.#losses(x),
      s("line", { class: "now", x1: x(this.#now), x2: x(this.#now), y1: TOP.y, y2: BELOW.y + BELOW.height }));
    this.#tell(points[this.#now], isInDiscs);
  }

  #axes(x, y, most, isInDiscs) {
    const step = isInDiscs ? [4, 8, 16, 32].find((step) => most / step <= 3) ?? 32 : 25;
    const ticks = [];
    for (let at = step; at <= most; at += step) ticks.push(at, -at);
    const label = (tick) => (isInDiscs ? signed(tick, 0) : `${50 + tick}%`);
    const last = this.#line.length - 1;
    const every = last > 30 ? 10 : 5;
    const plies = Array.from({ length: Math.floor(last / every) + 1 }, (_, index) => index * every);
    const right = this.#width - RIGHT;
    return [
      ...ticks.flatMap((tick) => [
        s("line", { class: "grid", x1: LEFT, x2: right, y1: y(tick), y2: y(tick) }),
        s("text", { x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end" }, label(tick)),
      ]),
      s("line", { class: "zero", x1: LEFT, x2: right, y1: y(0), y2: y(0) }),
      s("text", { x: LEFT - 5, y: y(0) + 4, "text-anchor": "end" }, label(0)),
      ...plies.map((ply) => s("text", { x: x(ply), y: HEIGHT - 4, "text-anchor": "middle" }, ply)),
      s("text", { x: right, y: TOP.y + 12, "text-anchor": "end" }, t("graph.black")),
      s("text", { x: right, y: TOP.y + TOP.height - 4, "text-anchor": "end" }, t("graph.white")),
    ];
  }

  /** Squares for proven values, discs for mistakes. */
  #marks(points, x, y) {
    return points.filter(Boolean).flatMap(({ ply, value, exact }) => [
      exact && s("rect", { class: "proven", x: x(ply) - 2.5, y: y(value) - 2.5, width: 5, height: 5 }),
      lossOf(this.#line[ply], this.#player)?.isMistake
        && s("circle", { class: "mistake", cx: x(ply), cy: y(value), r: 5 }),
    ]).filter(Boolean);
  }

  #losses(x) {
    const sums = cumulated(this.#line, this.#player);
    const most = Math.max(8, ...sums.flatMap((sum) => (sum ? [sum.black, sum.white] : [])));
    const y = (lost) => BELOW.y + BELOW.height * (1 - lost / most);
    const curve = (side) => s("path", {
      class: `loss ${side}`, d: unbroken(sums.map((sum, ply) => sum && [x(ply), y(sum[side])])).map(path).join(""),
    });
    const tick = (lost) => [
      s("line", { class: "grid", x1: LEFT, x2: this.#width - RIGHT, y1: y(lost), y2: y(lost) }),
      s("text", { x: LEFT - 5, y: y(lost) + 4, "text-anchor": "end" }, Math.round(lost)),
    ];
    return [...tick(0), ...tick(most),
      s("text", { x: LEFT + 6, y: BELOW.y + 12 }, t("graph.lost")), curve("black"), curve("white")];
  }

  #tell(point, isInDiscs) {
    const set = (name, value) => this.element.setAttribute(name, value);
    set("aria-valuemin", 0);
    set("aria-valuemax", this.#line.length - 1);
    set("aria-valuenow", this.#now);
    const node = this.#line[this.#now];
    const known = point && (isInDiscs ? t("graph.discs", { value: signed(point.value) }) : t("graph.percent", { value: Math.round(point.value + 50) }));
    const place = { ply: this.#now, value: known ?? t("graph.unknown") };
    set("aria-valuetext", node?.move ? t("graph.move", { ...place, side: sideWord(node.ply.mover), move: node.move }) : t("graph.ply", place));
  }
}

const at = (value) => value.toFixed(1);

/** The parts of a list between its unknown values. A line across those would claim to know them. */
function unbroken(points) {
  const parts = [[]];
  for (const point of points) {
    if (point) parts.at(-1).push(point);
    else if (parts.at(-1).length) parts.push([]);
  }
  return parts.filter((part) => part.length);
}

/** A line through points; a single one becomes a dot. */
function path(points) {
  if (points.length === 1) points = [points[0], points[0]];
  return points.map(([x, y], index) => `${index ? "L" : "M"}${at(x)} ${at(y)}`).join("");
}

function band(points, x, y) {
  if (!points.some(({ spread }) => spread > 0)) return "";
  const above = points.map(({ ply, value, spread }) => [x(ply), y(value + spread)]);
  const below = points.map(({ ply, value, spread }) => [x(ply), y(value - spread)]).reverse();
  return `${path([...above, ...below])}Z`;
}

/** The area between zero and the values: dark where black is ahead, light where white is. */
function areas(parts, x, y) {
  const area = (kind, clip) => s("path", {
    class: `for-${kind}`,
    d: parts.map((points) => {
      const edge = points.map(({ ply, value }) => [x(ply), y(clip(value))]);
      return `${path([[x(points[0].ply), y(0)], ...edge, [x(points.at(-1).ply), y(0)]])}Z`;
    }).join(""),
  });
  return [area("black", (value) => Math.max(0, value)), area("white", (value) => Math.min(0, value))];
}
