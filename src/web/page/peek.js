// Shows the line of a hint on a board while the hint is pointed at or has the focus.

import { Latest, post } from "./api.js";

/** The most moves of a line that are shown. */
const MOST = 12;

/** @typedef {() => ?{game: import("./api.js").Game, line: string[]}} Find */

export class Peek {
  #board;
  #requests = new Latest();
  /** @type {?Find} */
  #find = null;
  #shown = "";

  /** @param {import("./board.js").Board} board */
  constructor(board) {
    this.#board = board;
  }

  /** @param {?Find} find gives the line now: the position and its hints may change; `null`: no line */
  point(find) {
    this.#find = find;
    this.refresh();
  }

  /** Shows the line of what is pointed at, after anything has changed. */
  async refresh() {
    const { game, line = [] } = this.#find?.() ?? {};
    const moves = line.length ? game.moves + line.slice(0, MOST).join("") : "";
    if (moves === this.#shown) return;
    this.#shown = moves;
    const signal = this.#requests.begin();
    this.#board.showLine([]);
    if (!moves) return;
    try {
      // The server knows who makes each move, since lines have no passes.
      const { plies } = await post("/api/line", { ...game, moves }, signal);
      if (!signal.aborted) this.#board.showLine(plies.slice(-Math.min(MOST, line.length)));
    } catch { /* a line is an extra: without it the board stays as it is */ }
  }
}

/** Rows of hints, which may be drawn anew while one of them is pointed at. A row has `data-move`. */
export class Rows {
  #isDrawing = false;
  element;

  /** @param {HTMLElement} element @param {(move: ?string) => void} onpeek told which row is pointed at */
  constructor(element, onpeek) {
    this.element = element;
    const move = (event) => event.target.closest("[data-move]")?.dataset.move ?? null;
    const listen = (name, work) => element.addEventListener(name, (event) => { if (!this.#isDrawing) onpeek(work(event)); });
    listen("pointerover", move);
    listen("focusin", move);
    listen("pointerleave", () => null);
    listen("focusout", () => null);
  }

  /** Replaces the rows. The focus stays on the same move. @param {Node[]} rows */
  draw(rows) {
    this.#isDrawing = true;
    const focused = this.element.contains(document.activeElement) && document.activeElement.closest("[data-move]").dataset.move;
    this.element.replaceChildren(...rows);
    const row = focused ? this.element.querySelector(`[data-move="${focused}"]`) : null;
    (row?.querySelector("button") ?? row)?.focus({ preventScroll: true });
    this.#isDrawing = false;
  }
}
