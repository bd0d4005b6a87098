// A list of games that may be long: it can be searched and sorted, and has pages.

import { button, choice, h } from "./dom.js";
import { parts, turned } from "./opening.js";
import { t } from "./texts.js";

/** The games of a page. */
const PAGE = 50;
/** A shorter list needs no search. */
const FEW = 10;

const collator = new Intl.Collator("en", { sensitivity: "base", numeric: true });
const by = (word) => (a, b) => collator.compare(a[word] ?? "\uffff", b[word] ?? "\uffff");
const result = (game) => game.result ?? -Infinity;
/** @type {Object<string, ?((a: any, b: any) => number)>} */
const ORDERS = {
  file: null, newest: (a, b) => by("date")(b, a), oldest: by("date"), black: by("black"), white: by("white"), event: by("event"),
  result: (a, b) => result(b) - result(a),
};

/** A text without case and accents. */
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

export class GameList {
  #boards;
  #onopen;
  /** With their numbers, and with their words once somebody searches. */
  #games = [];
  /** Those that are found, in their order. */
  #found = [];
  #page = 0;
  #count = h("span", { role: "status" });
  #rows = h("div", { class: "found" });
  #search = h("input", { type: "search", placeholder: "Tastet 2001", oninput: () => this.#find() });
  #opening = h("input", { type: "search", placeholder: "f5d6c3", spellcheck: "false", autocapitalize: "none", oninput: () => this.#find() });
  #order;
  #back;
  #next;
  #filters;
  element;

  /** @param {import("./api.js").BoardShape[]} boards @param {(game: any) => void} onopen */
  constructor(boards, onopen) {
    this.#boards = boards;
    this.#onopen = onopen;
    this.#order = choice(t("list.order"), Object.keys(ORDERS).map((id) => [id, t(`list.${id}`)]), "file", () => this.#find());
    const field = (word, input) => h("label", { class: "field" }, h("span", {}, word), input);
    this.#filters = h("div", { class: "fields filters" }, field(t("list.search"), this.#search),
      field(t("list.opening"), this.#opening), this.#order.element);
    this.#back = button(t("list.previous"), () => this.#turn(-1));
    this.#next = button(t("list.next"), () => this.#turn(1));
    this.element = h("section", { class: "gamelist", "aria-label": t("list.title"), hidden: true }, this.#filters,
      h("div", { class: "row" }, this.#count, this.#back, this.#next), this.#rows);
  }

  /** @param {any[]} games as the server has read them */
  show(games) {
    this.#games = games.map((game, index) => ({ ...game, number: index + 1 }));
    this.element.hidden = !games.length;
    this.#filters.hidden = games.length <= FEW;
    [this.#search.value, this.#opening.value, this.#order.value] = ["", "", "file"];
    this.#find();
  }

  #find() {
    const words = plain(this.#search.value).split(/\s+/).filter(Boolean);
    const opening = parts(this.#opening.value);
    this.#opening.setCustomValidity(opening ? "" : t("list.moves"));
    const begins = this.#beginnings(opening ?? []);
    const fits = (game) => words.every((word) => wordsOf(game).includes(word)) && begins(game);
    const found = words.length || opening?.length ? this.#games.filter(fits) : [...this.#games];
    const order = ORDERS[this.#order.value];
    this.#found = order ? found.sort(order) : found;
    this.#page = 0;
    this.#draw();
  }

  /** Whether a game begins with some moves, or with what a turn or a mirror makes of them. */
  #beginnings(moves) {
    const variants = new Map(this.#boards.map((board) => [board.name, turned(moves, board)]));
    return ({ board, start, moves: game }) => {
      const all = variants.get(board) ?? [];
      // A position of its own is seldom symmetric.
      return (start ? all.slice(0, 1) : all).some((variant) => game.startsWith(variant));
    };
  }

  #turn(by) {
    this.#page += by;
    this.#draw();
    this.#rows.scrollTop = 0;
  }

  #draw() {
    const [all, found] = [this.#games.length, this.#found.length];
    const from = this.#page * PAGE;
    const shown = this.#found.slice(from, from + PAGE);
    const games = found === all ? t("list.all", { all }) : t("list.found", { found, all });
    this.#count.textContent = found > PAGE ? t("list.range", { from: from + 1, to: from + shown.length, games }) : games;
    this.#back.hidden = this.#next.hidden = found <= PAGE;
    this.#back.disabled = !this.#page;
    this.#next.disabled = from + PAGE >= found;
    this.#rows.replaceChildren(...shown.map((game) => button([
      h("span", {}, `${game.number}. ${names(game)}`), h("span", { class: "soft" }, aboutWord(game)),
    ], () => this.#onopen(game))));
  }
}

/** What a search looks at. */
function wordsOf(game) {
  game.words ??= plain([game.black, game.white, game.event, game.date].filter(Boolean).join(" "));
  return game.words;
}

function names({ black, white, result: score }) {
  const word = score === undefined || score === null ? "" : ` ${score > 0 ? "+" : ""}${score}`;
  return `${black || white ? `${black ?? "?"} – ${white ?? "?"}` : t("list.game")}${word}`;
}

const aboutWord = ({ event, date, moves }) => [event, date, `${moves.slice(0, 12)}…`].filter(Boolean).join(", ");
