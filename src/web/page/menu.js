// Choices from the server's menu of players.

import { hasText, t } from "./texts.js";

/** @type {[string, string][]} */
export const goalOptions = [["most", t("menu.most")], ["fewest", t("menu.fewest")]];

/** The players of a board and goal. @param {import("./main.js").About} about */
export function playersOf(about, board, goal) {
  return about.menus.find((menu) => menu.board === board && menu.goal === goal)?.players ?? [];
}

/** What the numbers beside the levels mean. */
export const RATINGS = t("menu.ratings");

/** A player's name: the page's own for those of the server's menu, if the language has one. @param {import("./api.js").Player} player */
export const playerWord = ({ id, word }) => (hasText(`level.${id}`) ? t(`level.${id}`) : word);

/** Players as options of a choice: a word, and a rating where one was measured. */
export function playerOptions(players) {
  return players.map((player) => [player.id, typeof player.rating === "number"
    ? t("menu.rated", { player: playerWord(player), rating: player.rating }) : playerWord(player)]);
}

/** Whether any of these players has a rating, which then needs an explanation. */
export const haveRatings = (players) => players.some(({ rating }) => typeof rating === "number");

/** Players that explain positions. */
export function opinionsOf(about, { board, goal }) {
  return playersOf(about, board, goal).filter(({ opinion }) => opinion);
}

/** The player that gives hints unless another one is chosen. */
export function opinionOf(about, setup) {
  const opinions = opinionsOf(about, setup);
  return opinions.find(({ id }) => id === about.default_opinion)
    ?? opinions.find(({ id }) => id.startsWith("alphabeta")) ?? opinions[0];
}
