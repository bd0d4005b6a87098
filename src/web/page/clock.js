// The clock of a game. It is told whose time passes, who has moved, and when to look.

import { clockWord } from "./words.js";

/** A side with less than this many seconds sees it. */
const SHORT = 20;
/** The most minutes of a side, and the most seconds for a move. */
const MOST = 600;

/** @typedef {{seconds: number, add: number}} Time of one side; `add` comes after each of its moves */

/** A number that somebody wrote, between 0 and {@link MOST}. */
const amount = (text) => Math.min(MOST, Math.max(0, Number(text) || 0));

/**
 * The times of a new game; `null` without a clock. A time of 0 minutes is unlimited.
 * @param {Object<string, string>} settings see `NewGame` @param {Set<string>} people
 * @returns {?{black: Time, white: Time}}
 */
export function timesOf({ clock, mine, mineAdd, theirs, theirsAdd }, people) {
  if (clock === "0") return null;
  const time = (minutes, add) => ({ seconds: amount(minutes) * 60 || Infinity, add: amount(add) });
  const [minutes, add = "0"] = clock.split("+");
  const [own, other] = clock === "own" ? [time(mine, mineAdd), time(theirs, theirsAdd)] : [time(minutes, add), time(minutes, add)];
  return people.size === 1 && people.has("white") ? { black: other, white: own } : { black: own, white: other };
}

export class Clock {
  #times;
  #left;
  #at = performance.now();

  /** @param {{black: Time, white: Time}} times @param {{black: ?number, white: ?number}} [left] seconds of a game that goes on */
  constructor(times, left) {
    this.#times = times;
    // JSON has no infinity, so an unlimited time was kept as `null`.
    const of = (side) => left?.[side] ?? times[side].seconds;
    this.#left = { black: of("black"), white: of("white") };
  }

  /** Seconds for each side. */
  get left() {
    return this.#left;
  }

  /** What a level is told of its clock, in seconds; `null` if its time is unlimited. */
  of(side) {
    const left = this.#left[side];
    return left === Infinity ? null : { left: Math.max(0, left), increment: this.#times[side].add };
  }

  /** Takes the time since the last call from a side; `null` lets it pass. Whether the side has some left. */
  pass(side) {
    const now = performance.now();
    if (side) this.#left[side] -= (now - this.#at) / 1000;
    this.#at = now;
    return !side || this.#left[side] > 0;
  }

  /** Adds the time for a move. */
  add(side) {
    this.#left[side] += this.#times[side].add;
  }

  /** Writes a side's time into its element. */
  show(side, element) {
    const left = this.#left[side];
    element.hidden = left === Infinity;
    element.textContent = clockWord(left);
    element.classList.toggle("short", left < SHORT);
  }
}
