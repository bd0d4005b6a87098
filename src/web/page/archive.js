// Keeps finished games that a person played in the library of the server, each once.

import { post } from "./api.js";
import { complain } from "./dom.js";
import { PERSON } from "./library.js";
import { recall, keep } from "./storage.js";
import { other } from "./words.js";

/**
 * Keeps a game that is over. A game that is opened again after a visit is not kept twice.
 * @param {import("./tree.js").Tree} tree at the end of the game
 * @param {{people: Set<string>, opponent: string, decided: ?{side: string, how: string}, squares: number}} about
 *   the sides that a person played, the level, who lost off the board, and the squares of the board
 */
export async function archive(tree, { people, opponent, decided, squares }) {
  const game = tree.game();
  if (!people.size || !game.moves) return;
  const name = (side) => (people.has(side) ? PERSON : opponent);
  // A game that was given up counts as lost by all squares, as in tournaments.
  const score = decided && { score: other(decided.side) === "black" ? squares : -squares };
  const played = { game, black: name("black"), white: name("white"), ...score };
  const mark = JSON.stringify(played);
  if (recall("archive", { mark: "" }).mark === mark) return;
  keep("archive", { mark });
  try {
    await post("/api/library/keep", played);
  } catch (error) {
    complain(error);
  }
}
