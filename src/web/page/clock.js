// The clock of a game. It is told whose time passes, and when to look.

import { clockWord } from "./words.js";

/** A side with less than this many seconds sees it. */
const SHORT = 20;

export class Clock {
  #left;
  #at = performance.now();

  /** @param {number} seconds for each side @param {{black: number, white: number}} [left] of a game that goes on */
  constructor(seconds, left) {
    this.#left = { black: seconds, white: seconds, ...left };
  }

  /** Seconds for each side. */
  get left() {
    return this.#left;
  }

  /** Takes the time since the last call from a side; `null` lets it pass. Whether the side has some left. */
  pass(side) {
    const now = performance.now();
    if (side) this.#left[side] -= (now - this.#at) / 1000;
    this.#at = now;
    return !side || this.#left[side] > 0;
  }

  /** Writes a side's time into its element. */
  show(side, element) {
    element.textContent = clockWord(this.#left[side]);
    element.classList.toggle("short", this.#left[side] < SHORT);
  }
}
