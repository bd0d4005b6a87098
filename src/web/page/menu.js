// Choices from the server's menu of players.

import { t } from "./texts.js";

/** @type {[string, string][]} */
export const goalOptions = [["most", t("menu.most")], ["fewest", t("menu.fewest")]];

/** The players of a board and goal. @param {import("./main.js").About} about */
export function playersOf(about, board, goal) {
  return about.menus.find((menu) => menu.board === board && menu.goal === goal)?.players ?? [];
}

/** What the numbers beside the levels mean. */
export const RATINGS = t("menu.ratings");

/** Players as options of a choice: a word, and a rating where one was measured. */
export function playerOptions(players) {
  return players.map(({ id, word, rating }) => [id, rating === null || rating === undefined ? word : t("menu.rated", { player: word, rating })]);
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
