// Who plays a game, how it ended, and whose turn it is, in words.

import { t } from "./texts.js";
import { lowWord, other, resultWord, sideWord } from "./words.js";

/** The names of both sides. @param {Set<string>} people @param {(side: string) => string} level the player's word */
export function sideNames(people, level) {
  const name = (side) => (people.has(side) ? (people.size === 2 ? sideWord(side) : t("play.you")) : level(side));
  return { black: name("black"), white: name("white") };
}

/** @param {import("./tree.js").Tree} tree @param {?{side: string, how: "resigns"|"time"}} resigned who has lost off the board */
export function resultText({ setup, current }, resigned) {
  if (!resigned) return resultWord({ ...setup, score: current.score, plies: [current.ply] });
  const { side, how } = resigned;
  const sides = { side: sideWord(side), winner: sideWord(other(side)) };
  return how === "resigns" ? t("end.resigns", sides) : t("end.time", sides);
}

/**
 * The line below the players.
 * @param {import("./tree.js").Tree} tree
 * @param {{people: Set<string>, resigned: any, thinking: ?string}} game `thinking` has the name of who thinks
 */
export function statusText(tree, { people, resigned, thinking }) {
  const { ply, children, over } = tree.current;
  if (over || resigned) return `${resultText(tree, resigned)}.`;
  if (thinking) return t("play.thinking", { player: thinking });
  const isPersons = people.has(ply.side);
  if (children.length && !isPersons) return t("play.earlier");
  if (people.size === 1 && isPersons) return t("play.turn", { side: lowWord(ply.side) });
  return t("turn.side", { side: sideWord(ply.side) });
}
