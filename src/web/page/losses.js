// What moves lost, from the values of the positions before and after them.
//
// The same rule as `outflank analyse`: a mistake is a proven loss of any size, or an estimated loss
// of at least 4 discs. A player without scores counts chances: 10 percent lost are a mistake.

import { t } from "./texts.js";
import { forBlack } from "./words.js";

const MISTAKE_DISCS = 4;
const MISTAKE_CHANCE = 0.1;

/**
 * A position's value for black.
 * @typedef {{score: ?number, win: ?number, exact: boolean, spread: number}} Value
 * @typedef {{amount: number, unit: "discs"|"chance", proven: boolean, isMistake: boolean}} Loss
 */

/**
 * The value of a position for black, by a player's advice; `null` if there is none yet.
 * @param {import("./tree.js").Node} node @param {string} player @returns {?Value}
 */
export function valueOf(node, player) {
  if (node.over) {
    const win = (Math.sign(node.score) + 1) / 2;
    return { score: node.score, win, exact: true, spread: 0 };
  }
  const advice = node.advice.get(player);
  const best = advice?.hints[0];
  if (!best) return null;
  const { score, win } = forBlack(best, node.ply.side);
  const exact = best.bound === "exact";
  return { score, win, exact, spread: exact ? 0 : spreadOf(advice) };
}

/** The standard deviation of the moves' scores, each weighted by its visits. */
function spreadOf({ hints }) {
  const known = hints.filter(({ score, visits }) => score !== null && visits > 0);
  const total = known.reduce((sum, { visits }) => sum + visits, 0);
  if (total === 0) return 0;
  const mean = known.reduce((sum, { score, visits }) => sum + score * visits, 0) / total;
  return Math.sqrt(known.reduce((sum, { score, visits }) => sum + (score - mean) ** 2 * visits, 0) / total);
}

/**
 * What the move to a node lost; `null` while a value is missing.
 * @param {import("./tree.js").Node} node @param {string} player @returns {?Loss}
 */
export function lossOf(node, player) {
  if (!node.parent) return null;
  const before = valueOf(node.parent, player);
  const after = valueOf(node, player);
  if (!before || !after) return null;
  const sign = node.ply.mover === "black" ? 1 : -1;
  if (before.score !== null && after.score !== null) {
    return loss(sign * (before.score - after.score), "discs", before.exact && after.exact);
  }
  if (before.win !== null && after.win !== null) return loss(sign * (before.win - after.win), "chance", false);
  return null;
}

function loss(amount, unit, proven) {
  const least = unit === "chance" ? MISTAKE_CHANCE : proven ? 0.5 : MISTAKE_DISCS;
  // Searches vary, so a move may seem to win discs. It lost nothing then.
  return { amount: Math.max(0, amount), unit, proven, isMistake: amount >= least };
}

/** Whether a loss like this would be called a mistake. */
export function isMistake(amount, proven) {
  return loss(amount, "discs", proven).isMistake;
}

/**
 * Discs that are known to be lost by each side up to each ply of a line; `null` for a ply whose move
 * lost nobody knows how much.
 * @param {import("./tree.js").Node[]} line @returns {(?{black: number, white: number})[]}
 */
export function cumulated(line, player) {
  const sum = { black: 0, white: 0 };
  return line.map((node) => {
    const found = lossOf(node, player);
    if (node.parent && found?.unit !== "discs") return null;
    if (found) sum[node.ply.mover] += found.amount;
    return { ...sum };
  });
}

/** A loss in words, such as `6.2 discs` or `18% of the chances`. */
export function lossWord({ amount, unit, proven }) {
  if (unit === "chance") return t("loss.chance", { amount: Math.round(amount * 100) });
  return proven && amount === 1 ? t("loss.disc") : t("loss.discs", { amount: amount.toFixed(proven ? 0 : 1) });
}
