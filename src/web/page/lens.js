// How the earlier checkpoints of a run saw a position, on a slider.

import { Latest, get, post } from "./api.js";
import { choice, complain, h, s } from "./dom.js";
import { t } from "./texts.js";
import { minutesWord, short, signed } from "./words.js";

/** The small curve asks at most this many checkpoints. */
const CURVE = 24;
const SIZE = { width: 360, height: 70 };

export class Lens {
  #onview;
  #runs;
  #slider;
  #word = h("p", {});
  #curve = s("svg", { class: "spark", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, "aria-hidden": "true" });
  #onBoard = h("input", { type: "checkbox", onchange: () => this.#onview() });
  #checkpoints = [];
  #position = null;
  #requests = new Latest();
  /** The curve asks for long. The slider must not end it. */
  #curves = new Latest();
  #seen = null;
  element;

  /** @param {() => void} onview called when the board should show another policy */
  constructor(onview) {
    this.#onview = onview;
    this.#runs = choice(t("lens.run"), [["", t("lens.none")]], "", () => this.#choose());
    this.#slider = h("input", { type: "range", min: 0, max: 0, "aria-label": t("lens.checkpoint"), oninput: () => this.#ask() });
    this.element = h("details", { class: "card", ontoggle: () => this.#load() },
      h("summary", {}, t("lens.title")),
      this.#runs.element, this.#slider, this.#word, this.#curve,
      h("label", { class: "row" }, this.#onBoard, t("lens.show")));
  }

  /** The policy to show on the board, or `null`. @returns {?[string, number][]} */
  get policy() {
    return this.element.open && this.#onBoard.checked ? this.#seen?.policy ?? null : null;
  }

  /** @param {{node: any, game: import("./api.js").Game}} position */
  show(position) {
    if (position.node === this.#position?.node) return;
    this.#position = position;
    this.#seen = null;
    if (this.element.open && this.#checkpoints.length) this.#ask(true);
  }

  async #load() {
    if (!this.element.open) return;
    // The position may have changed while this was closed.
    if (this.#checkpoints.length && !this.#seen) this.#ask(true);
    try {
      const { runs } = await get("/api/runs");
      const { board, goal } = this.#position.game;
      const fitting = runs.filter((run) => (run.board ?? board) === board && (run.goal ?? goal) === goal);
      this.#runs.offer([["", fitting.length ? t("lens.choose") : t("lens.unfit")], ...fitting.map(({ id, name }) => [id, name])]);
    } catch (error) {
      complain(error);
    }
  }

  async #choose() {
    this.#requests.end();
    this.#curves.end();
    this.#checkpoints = [];
    this.#curve.replaceChildren();
    this.#word.textContent = "";
    if (!this.#runs.value) return;
    try {
      const found = await get(`/api/runs/${encodeURIComponent(this.#runs.value)}/checkpoints`);
      this.#checkpoints = found.checkpoints;
    } catch (error) {
      complain(error);
    }
    if (!this.#checkpoints.length) {
      this.#word.textContent = t("lens.empty");
      return;
    }
    this.#slider.max = this.#checkpoints.length - 1;
    this.#slider.value = this.#slider.max;
    this.#ask(true);
  }

  /** Asks the chosen checkpoint, and for a new position also the others, for the curve. */
  async #ask(isNew = false) {
    const signal = this.#requests.begin();
    const { game, node } = this.#position;
    if (node.over) {
      this.#curves.end();
      this.#word.textContent = t("ply.over");
      return;
    }
    const predict = (at, until) => post("/api/predict", { ...game, player: this.#checkpoints[at].player }, until);
    const chosen = Number(this.#slider.value);
    // The curve of the position before is of no use any more.
    const drawing = isNew ? this.#curves.begin() : null;
    try {
      this.#seen = await predict(chosen, signal);
      this.#tell(chosen, node.ply.side);
      this.#onview();
    } catch (error) {
      complain(error);
    }
    try {
      if (drawing && !drawing.aborted) await this.#draw((at) => predict(at, drawing), drawing, node.ply.side);
    } catch (error) {
      complain(error);
    }
  }

  #tell(chosen, side) {
    const { step, minutes } = this.#checkpoints[chosen];
    const { win, score, policy } = this.#seen;
    const black = side === "black" ? win : 1 - win;
    const percent = Math.round(black * 100);
    const value = score === null ? t("lens.win", { percent }) : t("lens.discs", { percent, score: signed(side === "black" ? score : -score) });
    const best = [...policy].sort((a, b) => b[1] - a[1]).slice(0, 3);
    const moves = best.map(([move, share]) => `${move} ${Math.round(share * 100)}%`).join(", ");
    const at = minutes ? t("lens.after", { step: short(step), time: minutesWord(minutes) }) : t("lens.step", { step: short(step) });
    this.#word.textContent = t("lens.tell", { step: at, value, moves });
  }

  async #draw(predict, signal, side) {
    const last = this.#checkpoints.length - 1;
    const count = Math.min(CURVE, last + 1);
    const chosen = [...new Set(Array.from({ length: count }, (_, index) => Math.round(index * last / Math.max(1, count - 1))))];
    const points = [];
    for (const at of chosen) {
      const { win } = await predict(at);
      if (signal.aborted) return;
      points.push([10 + at * (SIZE.width - 20) / Math.max(1, last), 5 + (SIZE.height - 10) * (side === "black" ? 1 - win : win)]);
      const middle = SIZE.height / 2;
      this.#curve.replaceChildren(
        s("line", { x1: 0, x2: SIZE.width, y1: middle, y2: middle }),
        s("path", { d: points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") }),
        ...points.map(([x, y]) => s("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 3 })));
    }
  }
}
