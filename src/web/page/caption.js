// The sentence below the board: whose turn it is, or how the game ended.

import { valueOf } from "./losses.js";
import { t } from "./texts.js";
import { resultWord, sideWord, signed } from "./words.js";

/**
 * @param {import("./tree.js").Tree} tree @param {import("./players.js").Names} names
 * @param {?string} player whose value is told; `null`: no value
 */
export function caption({ current, setup }, names, player) {
  const { ply } = current;
  if (current.over) return `${resultWord({ ...setup, score: current.score, plies: [ply] })}.`;
  const name = names[ply.side] ? ` (${names[ply.side]})` : "";
  const turn = t("caption.turn", { side: `${sideWord(ply.side)}${name}`, discs: `${ply.black}–${ply.white}` });
  const passed = ply.passed && t("caption.passed", { side: sideWord(ply.passed) });
  return [turn, passed, worthOf(player === null ? null : valueOf(current, player))].filter(Boolean).join(" ");
}

/** @param {?import("./losses.js").Value} found */
function worthOf(found) {
  if (!found) return "";
  if (found.score === null) return t("caption.win", { percent: Math.round(found.win * 100) });
  return found.exact ? t("caption.proven", { value: signed(found.score, 0) }) : t("caption.expected", { value: signed(found.score) });
}
