// A match of two players that the user watches: games in pairs, from one opening with both colours.

import { h } from "./dom.js";
import { playerWord, playersOf } from "./menu.js";
import { t } from "./texts.js";

/** A pause between two games, in milliseconds. */
const BETWEEN = 2_000;

/** What is kept of a match. @typedef {{games: number, played: number, first: number, second: number, draws: number}} Tally */

/** A match that begins. @param {number} games @returns {Tally} */
export const newTally = (games) => ({ games, played: 0, first: 0, second: 0, draws: 0 });

/** Whether the first player has white: in every second game. @param {Tally} tally */
const isSwapped = (tally) => tally.played % 2 === 1;

export class Match {
  #about;
  #settings;
  #ongo;
  #timer = 0;
  /** The state of the match. */
  element = h("p", { hidden: true });

  /**
   * @param {import("./main.js").About} about
   * @param {Object} settings of the view: players, the tally, and the opening of the last game
   * @param {(game: ?import("./api.js").Game, tally: Tally) => void} ongo begins the next game
   */
  constructor(about, settings, ongo) {
    this.#about = about;
    this.#settings = settings;
    this.#ongo = ongo;
  }

  /** The player of a side; a person's opponent has either. @param {Object} setup @param {string} side */
  player(setup, side, hasPeople) {
    const { level, second, tally } = this.#settings;
    const isFirst = hasPeople || !tally || (side === "black") !== isSwapped(tally);
    return this.#named(setup, isFirst ? level : second);
  }

  /** A player by its id, or the usual one. */
  #named({ board, goal }, wanted) {
    const players = [...playersOf(this.#about, board, goal), ...(this.#settings.extra ?? [])];
    const find = (id) => players.find((player) => player.id === id);
    return find(wanted) ?? find(this.#about.default_level) ?? players[0];
  }

  /** Counts a game, and waits for the next one. @param {number} score black's */
  count(score) {
    const { tally } = this.#settings;
    if (!tally) return;
    if (score === 0) tally.draws += 1;
    else if ((score > 0) !== isSwapped(tally)) tally.first += 1;
    else tally.second += 1;
    tally.played += 1;
    this.goOn();
  }

  /** Begins the next game after a pause, if there is one: from the same opening if it is the second of a pair. */
  goOn() {
    const { tally, opened } = this.#settings;
    if (!(tally?.played < tally?.games)) return;
    this.#timer = setTimeout(() => this.#ongo(isSwapped(tally) ? opened : null, tally), BETWEEN);
  }

  stop() {
    clearTimeout(this.#timer);
  }

  draw(setup, hasPeople) {
    const { tally, level, second } = this.#settings;
    this.element.hidden = hasPeople || !(tally?.games > 1);
    if (this.element.hidden) return;
    const { games, played, draws } = tally;
    const [one, other] = [level, second].map((id) => playerWord(this.#named(setup, id)));
    this.element.textContent = t("series.state", { first: one, second: other, won: tally.first, lost: tally.second, draws, played, games });
  }
}
