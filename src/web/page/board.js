// A board as SVG, on any geometry. It shows what it is given and reports which square was chosen; it
// knows no rules.

import { s } from "./dom.js";
import { click } from "./sound.js";
import { t } from "./texts.js";
import { sideWord } from "./words.js";

const CELL = 100;
const EDGE = 34;
/** Turned discs follow each other at this interval, outward from the new disc, in milliseconds. */
const RIPPLE = 45;

/**
 * @typedef {{text: string, best?: boolean, thin?: boolean, note?: string, line?: string}} SquareHint
 * @typedef {{amount: number, kind: "more"|"black"|"white", text?: string}} SquareShade
 * @typedef {{discs: string, legal?: string[], last?: string, flipped?: string[], side?: string,
 *   hints?: Map<string, SquareHint>, shades?: Map<string, SquareShade>, animate?: boolean}} View
 */

let boards = 0;

export class Board {
  /** @type {import("./api.js").BoardShape} */
  #shape;
  #onplay;
  /** The moves of a line, over everything else. */
  #line = s("g", { class: "line", "aria-hidden": "true" });
  /** Told which square is pointed at, or has the cursor of the keys. @type {?(square: ?string) => void} */
  onpoint = null;
  /** What happens to squares that a drag touches, or null: nothing. @type {?(square: string) => void} */
  #onpaint = null;
  #squares = new Map();
  #order = [];
  #cursor = 0;
  #id = `board${(boards += 1)}`;
  /** @type {SVGElement} */
  element;

  /**
   * @param {(square: string) => void} [onplay] called with the name of a chosen square
   * @param {string} [label] for screen readers
   */
  constructor(onplay, label = t("board.name")) {
    this.#onplay = onplay;
    this.element = s("svg", {
      class: "board", role: "grid", "aria-label": label, tabindex: onplay ? 0 : false,
      onkeydown: (event) => this.#key(event),
      onfocus: () => this.#showCursor(),
      onblur: () => { this.#showCursor(); this.onpoint?.(null); },
      onpointerover: (event) => this.onpoint?.(event.target.closest("[data-square]")?.dataset.square ?? null),
      onpointerleave: () => this.onpoint?.(null),
      onpointerdown: (event) => this.#paint(event),
      onpointermove: (event) => this.#paint(event),
    });
  }

  /** Whether a drag paints squares, and how. @param {?(square: string) => void} onpaint */
  set onpaint(onpaint) {
    this.#onpaint = onpaint;
    this.element.classList.toggle("painted", Boolean(onpaint));
  }

  #paint(event) {
    // The left button, a finger or a pen. A finger's events all go to the square where it began.
    if (!this.#onpaint || !(event.buttons & 1)) return;
    const part = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-square]");
    if (part && this.element.contains(part)) this.#onpaint(part.dataset.square);
  }

  /** @param {import("./api.js").BoardShape} shape */
  setShape(shape) {
    if (this.#shape === shape) return;
    this.#shape = shape;
    const rows = Math.ceil((Math.max(...shape.squares.map(([, cell]) => cell)) + 1) / shape.width);
    const [width, height] = [shape.width * CELL + EDGE * 2, rows * CELL + EDGE * 2];
    this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#squares.clear();
    this.#order = shape.squares.map(([name]) => name);
    this.#cursor = Math.floor(this.#order.length / 2);
    const isWhole = shape.squares.length === shape.width * rows;
    const frame = s("rect", {
      class: "frame", x: EDGE - 10, y: EDGE - 10, rx: 10,
      width: width - 2 * EDGE + 20, height: height - 2 * EDGE + 20,
    });
    const parts = shape.squares.map(([name, cell], index) => this.#square(name, cell, index));
    const byRow = Map.groupBy
      ? Map.groupBy(parts, ({ row }) => row)
      : parts.reduce((rows, part) => rows.set(part.row, [...(rows.get(part.row) ?? []), part]), new Map());
    const grid = [...byRow.values()].map((row) => s("g", { role: "row" }, ...row.map(({ group }) => group)));
    this.element.replaceChildren(...(isWhole ? [frame] : []), ...this.#labels(), ...grid, this.#line);
  }

  /** Letters above and numbers at the left, where the squares' names have them. */
  #labels() {
    const columns = new Map();
    const rows = new Map();
    for (const [name, cell] of this.#shape.squares) {
      columns.set(cell % this.#shape.width, name[0]);
      rows.set(Math.floor(cell / this.#shape.width), name.slice(1));
    }
    const text = (x, y, word) => s("text", { class: "axis", x, y, "aria-hidden": "true" }, word);
    const at = (index) => EDGE + (index + 0.5) * CELL;
    return [
      ...[...columns].map(([index, word]) => text(at(index), EDGE / 2 - 4, word)),
      ...[...rows].map(([index, word]) => text(EDGE / 2 - 6, at(index), word)),
    ];
  }

  #square(name, cell, index) {
    const [column, row] = [cell % this.#shape.width, Math.floor(cell / this.#shape.width)];
    const [x, y] = [EDGE + column * CELL, EDGE + row * CELL];
    const place = { cx: x + CELL / 2, cy: y + CELL / 2 };
    const part = {
      name, column, row, shown: "-",
      shade: s("rect", { class: "shade", x: x + 2, y: y + 2, width: CELL - 4, height: CELL - 4 }),
      shadow: s("circle", { class: "shadow", cx: place.cx + 2, cy: place.cy + 5, r: 40 }),
      disc: s("g", { class: "disc" },
        s("circle", { class: "face", ...place, r: 40 }), s("circle", { class: "rim", ...place, r: 34 })),
      dot: s("circle", { class: "legal", ...place, r: 9 }),
      last: s("circle", { class: "last", ...place, r: 9 }),
      text: s("text", { class: "hint", x: place.cx, y: place.cy }),
      note: s("text", { class: "note", x: place.cx, y: place.cy + 28 }),
      halo: s("rect", { class: "halo", x: x + 4, y: y + 4, width: CELL - 8, height: CELL - 8, rx: 8 }),
      ring: s("rect", { class: "cursor", x: x + 5, y: y + 5, width: CELL - 10, height: CELL - 10, rx: 8 }),
    };
    part.group = s("g", {
      class: "square", role: "gridcell", id: `${this.#id}-${index}`, "data-square": name,
      onclick: () => this.#choose(index),
    }, s("rect", { class: "ground", x, y, width: CELL, height: CELL }), part.shade, part.shadow, part.disc,
      part.halo, part.dot, part.last, part.text, part.note, part.ring);
    this.#squares.set(name, part);
    return part;
  }

  /** @param {View} view */
  show(view) {
    const legal = new Set(view.legal ?? []);
    const flipped = new Set(view.animate ? view.flipped ?? [] : []);
    const origin = this.#squares.get(view.last);
    this.element.classList.toggle("white-moves", view.side === "white");
    if (view.animate && origin) click();
    this.#order.forEach((name, index) => {
      const part = this.#squares.get(name);
      const disc = view.discs[index];
      this.#showDisc(part, disc, view.animate && flipped.has(name), view.animate && name === view.last, origin);
      const hint = view.hints?.get(name);
      const shade = view.shades?.get(name);
      part.group.classList.toggle("can", legal.has(name));
      part.group.classList.toggle("is-last", name === view.last);
      part.group.classList.toggle("best", Boolean(hint?.best));
      part.group.classList.toggle("thin", Boolean(hint?.thin));
      part.group.classList.toggle("hinted", Boolean(hint?.text));
      part.text.textContent = hint?.text ?? shade?.text ?? "";
      part.note.textContent = hint?.note ?? "";
      part.text.classList.toggle("on-disc", disc === "X");
      part.shade.setAttribute("class", `shade ${shade?.kind ?? ""}`);
      part.shade.style.opacity = shade ? Math.max(0, Math.min(1, shade.amount)) : 0;
      const what = { X: t("low.black"), O: t("low.white") }[disc] ?? (legal.has(name) ? t("board.can") : t("board.empty"));
      part.group.setAttribute("aria-label", [name, what, name === view.last && t("board.last"), hint?.text, hint?.note, hint?.line]
        .filter(Boolean).join(", "));
    });
  }

  /** Shows moves that may follow as numbered discs. @param {import("./api.js").Ply[]} plies */
  showLine(plies) {
    this.element.classList.toggle("lined", plies.length > 0);
    this.#line.replaceChildren(...plies.map(({ move, mover }, index) => {
      const { column, row } = this.#squares.get(move);
      const place = { x: EDGE + (column + 0.5) * CELL, y: EDGE + (row + 0.5) * CELL };
      return s("g", { class: mover }, s("circle", { cx: place.x, cy: place.y, r: 36 }), s("text", place, index + 1));
    }));
  }

  #showDisc(part, disc, turns, falls, origin) {
    const kind = { X: "black", O: "white" }[disc] ?? "none";
    part.shown = disc;
    part.disc.setAttribute("class", `disc ${kind}`);
    part.shadow.classList.toggle("none", kind === "none");
    if (!turns && !falls) return;
    const steps = origin ? Math.max(Math.abs(part.column - origin.column), Math.abs(part.row - origin.row)) : 0;
    part.disc.style.setProperty("--delay", `${steps * RIPPLE}ms`);
    // Reading the layout starts the animation anew, if the last one was the same.
    part.disc.getBoundingClientRect();
    part.disc.classList.add(turns ? "turns" : "falls");
  }

  #choose(index) {
    this.#moveCursor(index);
    this.#onplay?.(this.#order[index]);
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (step) this.#walk(step);
    else if (event.key === "Enter" || event.key === " ") this.#choose(this.#cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Moves the cursor to the next square in a direction. Boards may have holes, which it jumps. */
  #walk([dx, dy]) {
    const from = this.#squares.get(this.#order[this.#cursor]);
    const along = (part) => (part.column - from.column) * dx + (part.row - from.row) * dy;
    const aside = (part) => Math.abs((part.column - from.column) * dy) + Math.abs((part.row - from.row) * dx);
    const next = this.#order.map((name, index) => ({ index, part: this.#squares.get(name) }))
      .filter(({ part }) => along(part) > 0)
      .sort((a, b) => along(a.part) + 3 * aside(a.part) - along(b.part) - 3 * aside(b.part))[0];
    if (next) this.#moveCursor(next.index);
  }

  #moveCursor(index) {
    this.#squares.get(this.#order[this.#cursor])?.group.classList.remove("here");
    this.#cursor = index;
    this.#showCursor();
  }

  /** The browser tells a focus by keys from one by a click: only keys need a cursor. */
  #showCursor() {
    const part = this.#squares.get(this.#order[this.#cursor]);
    if (!part || !this.#onplay) return;
    const isByKeys = this.element.matches(":focus-visible");
    part.group.classList.toggle("here", isByKeys);
    if (isByKeys) this.onpoint?.(part.name);
    this.element.setAttribute("aria-activedescendant", part.group.id);
  }
}

/** What a screen reader says about a ply. */
export function plyWord(ply) {
  if (!ply.move) return t("ply.start");
  const moved = t("ply.move", { side: sideWord(ply.mover), move: ply.move, count: ply.flipped?.length ?? 0 });
  const passed = ply.passed && t("ply.passes", { side: sideWord(ply.passed) });
  const next = ply.legal.length ? t("turn.side", { side: sideWord(ply.side) }) : t("ply.over");
  return [moved, passed, next].filter(Boolean).join(" ");
}
