// Who plays a game, how it ended, and whose turn it is, in words.

import { other, resultWord, sideWord } from "./words.js";

/** The names of both sides. @param {Set<string>} people @param {string} level the player's word */
export function sideNames(people, level) {
  const name = (side) => (people.has(side) ? (people.size === 2 ? sideWord(side) : "You") : level);
  return { black: name("black"), white: name("white") };
}

/** @param {import("./tree.js").Tree} tree @param {?{side: string, how: string}} resigned who has lost off the board */
export function resultText({ setup, current }, resigned) {
  if (!resigned) return resultWord({ ...setup, score: current.score, plies: [current.ply] });
  const { side, how } = resigned;
  return `${sideWord(side)} ${how}. ${sideWord(other(side))} wins`;
}

/**
 * The line below the players.
 * @param {import("./tree.js").Tree} tree
 * @param {{people: Set<string>, resigned: any, thinking: ?string}} game `thinking` has the name of who thinks
 */
export function statusText(tree, { people, resigned, thinking }) {
  const { ply, children, over } = tree.current;
  if (over || resigned) return `${resultText(tree, resigned)}.`;
  if (thinking) return `${thinking} is thinking.`;
  const isPersons = people.has(ply.side);
  if (children.length && !isPersons) return "You look at an earlier position.";
  if (people.size === 1 && isPersons) return `Your move (${ply.side}).`;
  return `${sideWord(ply.side)} to move.`;
}
