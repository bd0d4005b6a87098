// Who has played a game, above its board.

import { h } from "./dom.js";
import { sideWord, signed } from "./words.js";

/** @typedef {{black?: string, white?: string, date?: string, event?: string, result?: number}} Names */

/** Who has played, if the game says so. @param {Names} names */
export function playersRow({ black, white, date, event, result }) {
  if (!black && !white) return [];
  const player = (side, name) => h("span", { class: `named ${side}` }, h("span", { class: `chip ${side}`, "aria-hidden": "true" }),
    h("span", { class: "unseen" }, `${sideWord(side)}: `), name ?? "?");
  const score = typeof result === "number" && `${signed(result, 0)} for black`;
  const more = [score, event, date].filter(Boolean).join(", ");
  return [player("black", black), player("white", white), ...(more ? [h("span", { class: "soft" }, more)] : [])];
}
