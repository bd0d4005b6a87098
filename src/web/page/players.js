// Who plays a game, or has played it.

import { h } from "./dom.js";
import { t } from "./texts.js";
import { lowWord, sideWord, signed } from "./words.js";

/** @typedef {{black?: string, white?: string, date?: string, event?: string, result?: number}} Names */

/** Who has played, if the game says so. @param {Names} names */
export function playersRow({ black, white, date, event, result }) {
  if (!black && !white) return [];
  const player = (side, name) => h("span", { class: `named ${side}` }, h("span", { class: `chip ${side}`, "aria-hidden": "true" }),
    h("span", { class: "unseen" }, `${sideWord(side)}: `), name ?? "?");
  const score = typeof result === "number" && t("players.result", { score: signed(result, 0) });
  const more = [score, event, date].filter(Boolean).join(", ");
  return [player("black", black), player("white", white), ...(more ? [h("span", { class: "soft" }, more)] : [])];
}

/** The card of a side: its name, clock and discs. @param {import("./api.js").Side} side */
export function playerCard(side) {
  const name = h("span", { class: "who" });
  const count = h("span", { class: "count", "aria-label": t("players.discs", { side: lowWord(side) }) });
  const clock = h("span", { class: "clock", hidden: true });
  const element = h("div", { class: `player ${side}` }, h("span", { class: "chip", "aria-hidden": "true" }),
    h("span", { class: "unseen" }, sideWord(side)), name, clock, count);
  return { element, name, count, clock };
}
