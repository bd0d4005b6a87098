// The sentence below the board: whose turn it is, or how the game ended.

import { valueOf } from "./losses.js";
import { resultWord, sideWord, signed } from "./words.js";

/**
 * @param {import("./tree.js").Tree} tree @param {import("./players.js").Names} names
 * @param {?string} player whose value is told; `null`: no value
 */
export function caption({ current, setup }, names, player) {
  const { ply } = current;
  if (current.over) return `${resultWord({ ...setup, score: current.score, plies: [ply] })}.`;
  const name = names[ply.side] ? ` (${names[ply.side]})` : "";
  const passed = ply.passed ? ` ${sideWord(ply.passed)} had to pass.` : "";
  const found = player === null ? null : valueOf(current, player);
  const worth = !found ? "" : found.score !== null
    ? ` ${found.exact ? "Proven" : "Expected"} for black: ${signed(found.score, found.exact ? 0 : 1)}.`
    : ` Black wins ${Math.round(found.win * 100)}%.`;
  return `${sideWord(ply.side)}${name} to move, ${ply.black}–${ply.white}.${passed}${worth}`;
}
