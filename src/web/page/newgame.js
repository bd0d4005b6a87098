// The dialog in which a game is chosen: opponent, side, board, goal, opening and clock.

import { button, choice, dialog, h } from "./dom.js";
import { RATINGS, goalOptions, haveRatings, playerOptions, playersOf } from "./menu.js";
import { t } from "./texts.js";

/** Random moves at the start. */
const OPENINGS = [0, 4, 8, 12];
/** Minutes of each side, and seconds that it gets for each move. */
const CLOCKS = ["0", "1", "5", "15", "3+2", "10+5", "own"];
const TIMES = ["mine", "mineAdd", "theirs", "theirsAdd"];
const SIDES = ["black", "white", "random", "both", "none"];
/** Games of a match that is watched. */
const GAMES = ["1", "2", "10", "50"];
/** The most nets of runs that are offered. */
const MOST_EXTRA = 6;
/** The first choice of a new game. @param {import("./main.js").About} about */
export const usualGame = (about) => ({
  level: about.default_level, second: about.default_level, games: "1", extra: [], side: "black", board: "8x8", goal: "most", opening: "0", moves: "",
  clock: "0", mine: "10", mineAdd: "0", theirs: "3", theirsAdd: "0",
});

const clockText = (clock) => {
  const [minutes, seconds] = clock.split("+");
  if (clock === "0" || clock === "own") return t(`clock.${clock}`);
  return seconds ? t("clock.added", { minutes, seconds }) : t("clock.each", { count: Number(minutes) });
};

/** Players that explain positions but are no levels. */
const EXPLAINERS = ["policy", "solver", "alphabeta10"];

export class NewGame {
  #about;
  #choices;
  /** Nets of runs that are offered beside the levels. @type {(import("./api.js").Player & {board: string, goal: string})[]} */
  #extra;
  /** The fields of unequal times. */
  #times = {};
  #unlimited = h("p", { class: "soft whole" }, t("clock.unlimited"));
  #ratings = h("p", { class: "soft whole" }, RATINGS);
  /** @type {HTMLDialogElement} */
  box;

  /**
   * @param {import("./main.js").About} about
   * @param {Object<string, string>} set what was chosen before
   * @param {(chosen: Object<string, string>) => void} onstart
   * @param {string} [title]
   */
  constructor(about, set, onstart, title = t("new.title")) {
    this.#about = about;
    this.#extra = set.extra ?? [];
    const boards = about.boards.map(({ name }) => [name, name]);
    const c = this.#choices = {
      level: choice(t("new.level"), [], ""),
      side: choice(t("new.side"), SIDES.map((side) => [side, t(`new.${side}`)]), set.side, () => this.#offerTimes()),
      second: choice(t("new.second"), [], ""),
      games: choice(t("new.games"), GAMES.map((count) => [count, count]), set.games ?? "1"),
      board: choice(t("menu.board"), boards, set.board, () => this.#offerLevels()),
      goal: choice(t("menu.goal"), goalOptions, set.goal, () => this.#offerLevels()),
      opening: choice(t("new.opening"), OPENINGS.map((count) => [String(count), count ? t("new.moves", { count }) : t("new.standard")]), set.opening),
      clock: choice(t("clock.title"), CLOCKS.map((clock) => [clock, clockText(clock)]), set.clock, () => this.#offerTimes()),
    };
    for (const name of TIMES) {
      const input = h("input", { type: "number", min: 0, max: 600, step: "any", inputmode: "decimal", value: set[name] });
      const label = h("span", {});
      this.#times[name] = { input, label, element: h("label", { class: "field" }, label, input) };
    }
    const begin = button(t("new.start"), () => {
      this.box.close();
      const times = TIMES.map((name) => [name, this.#times[name].input.value]);
      const chosen = Object.fromEntries([...Object.entries(c).map(([name, { value }]) => [name, value]), ...times]);
      onstart({ ...chosen, extra: this.#extra });
    }, { class: "main", autofocus: true });
    const form = h("form", { class: "fields two", onsubmit: (event) => event.preventDefault() },
      ...[...Object.values(c), ...Object.values(this.#times)].map(({ element }) => element), this.#unlimited, this.#ratings, begin);
    this.#offerLevels(set.level, set.second);
    this.#offerTimes();
    this.box = dialog(title, form);
  }

  /** Asks for a game against the net of a run, or for a match of it. @param {import("./api.js").Player & {board: string, goal: string}} player @param {string} side */
  offerNet(player, side) {
    const { board, goal, side: sides } = this.#choices;
    this.#extra = [...this.#extra.filter(({ id }) => id !== player.id), player].slice(-MOST_EXTRA);
    [board.value, goal.value, sides.value] = [player.board, player.goal, side];
    this.#offerLevels(player.id);
    this.#offerTimes();
    this.box.showModal();
  }

  /**
   * Asks for a game. With a given one, only the players and the clock are asked for.
   * @param {{board: string, goal: string}} [setup] of the given game
   * @param {import("./tree.js").Node} [from] its position, in which the user is to move at first
   */
  offer(setup, from) {
    const { board, goal, opening, side } = this.#choices;
    for (const { element } of [board, goal, opening]) element.hidden = Boolean(from);
    if (from) {
      [board.value, goal.value, side.value] = [setup.board, setup.goal, from.ply.side];
      this.#offerLevels();
      this.#offerTimes();
    }
    this.box.showModal();
  }

  /** Asks for the times of both sides where they are the user's own choice, and for both players of a match. */
  #offerTimes() {
    const { clock, side, second, games } = this.#choices;
    for (const { element } of [second, games]) element.hidden = side.value !== "none";
    const whose = ["both", "none"].includes(side.value) ? "sides" : "players";
    this.#unlimited.hidden = clock.value !== "own";
    for (const [name, { label, element }] of Object.entries(this.#times)) {
      element.hidden = clock.value !== "own";
      label.textContent = t(`clock.${whose}.${name}`);
    }
  }

  /** Offers the levels of the chosen board and goal, and keeps the chosen one if it is among them. */
  #offerLevels(chosen, other) {
    const { level, second, board, goal } = this.#choices;
    const nets = this.#extra.filter((net) => net.board === board.value && net.goal === goal.value);
    const players = [...playersOf(this.#about, board.value, goal.value), ...nets];
    this.#ratings.hidden = !haveRatings(players);
    const options = playerOptions(players.filter(({ id }) => !EXPLAINERS.includes(id)));
    const known = (wanted) => (options.some(([id]) => id === wanted) ? wanted : this.#about.default_level);
    level.offer(options, known(chosen ?? level.value));
    second.offer(options, known(other ?? second.value));
  }
}
