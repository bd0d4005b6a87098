// The library: games of files and games that were played here, searched by the server.

import { Latest, get, post, remove } from "./api.js";
import { button, choice, complain, h } from "./dom.js";
import { t } from "./texts.js";

/** The games of a page of the list. */
const PAGE = 50;
/** A text is searched this long after the last key, in milliseconds. */
const PAUSE = 250;
/** The server answers this status while it reads new files. */
const BUSY = 503;
/** How long to wait before it is asked again, in milliseconds. */
const AGAIN = 2_000;

/** The name of the person in the files of games that were played here. */
export const PERSON = "You";

const WINNERS = ["", "black", "white", "draw", "player", "opponent"];
const ORDERS = ["year", "black", "white", "event", "opening", "score"];
const TEXTS = ["player", "opponent", "event", "opening"];

/** @typedef {{id: number, black?: string, white?: string, date?: string, event?: string, opening?: string,
 *   score?: number, own: boolean, board: string, file: string,
 *   number: number}} Listed */

export class LibraryView {
  #analyse;
  #searches = new Latest();
  #timer = 0;
  #page = 0;
  /** The game whose last position is searched, or null. @type {?import("./api.js").Game} */
  #position = null;
  #fields = {};
  #parts = {};
  element;

  /** @param {(game, names) => void} analyse opens a game */
  constructor(analyse) {
    this.#analyse = analyse;
    this.#build();
  }

  #build() {
    const p = this.#parts;
    const f = this.#fields;
    const soon = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#find(), PAUSE);
    };
    const text = (name) => {
      f[name] = h("input", { type: "search", maxlength: 100, oninput: soon });
      return h("label", { class: "field" }, h("span", {}, t(`library.${name}`)), f[name]);
    };
    const year = (name) => {
      f[name] = h("input", { type: "number", min: 1900, max: 2200, inputmode: "numeric", oninput: soon });
      return h("label", { class: "field" }, h("span", {}, t(`library.${name}`)), f[name]);
    };
    const word = (group, names) => names.map((name) => [name, t(`library.${group}.${name || "any"}`)]);
    f.winner = choice(t("library.winner"), word("winner", WINNERS), "", () => this.#find());
    f.sort = choice(t("library.sort"), word("sort", ORDERS), "year", () => this.#find());
    f.own = h("input", { type: "checkbox", onchange: () => this.#find() });
    p.state = h("p", { class: "soft", role: "status" });
    p.problems = h("details", { hidden: true });
    p.position = h("p", { class: "row", hidden: true }, t("library.position"),
      button(t("library.position.all"), () => this.#search(null), { class: "quiet" }));
    p.count = h("span", { role: "status" });
    p.back = button(t("library.previous"), () => this.#turn(-1));
    p.next = button(t("library.next"), () => this.#turn(1));
    p.rows = h("div", { class: "found whole" });
    this.element = h("div", { class: "library" },
      h("header", {}, h("h2", {}, t("library.title")), p.state, p.problems),
      h("div", { class: "fields filters" }, ...TEXTS.map(text), year("from"), year("to"), f.winner.element, f.sort.element,
        h("label", { class: "check" }, f.own, h("span", {}, t("library.own")))),
      p.position,
      h("div", { class: "row" }, p.count, p.back, p.next), p.rows);
  }

  show() {
    this.#refresh();
  }

  hide() {
    this.#searches.end();
    clearTimeout(this.#timer);
  }

  key() {
    return false;
  }

  /** Shows the games that had the last position of a game. @param {import("./api.js").Game} game */
  open(game) {
    this.#search(game);
  }

  #search(position) {
    this.#position = position;
    this.#find();
  }

  /** Lets the server look at its files, then searches. */
  async #refresh() {
    const p = this.#parts;
    const signal = this.#searches.begin();
    p.state.textContent = t("library.reading");
    try {
      const found = await patient(() => get("/api/library", signal), signal);
      p.state.textContent = t(found.games ? "library.state" : "library.empty", { count: number(found.games), folder: found.folder });
      const { problems, faults } = found;
      const lines = [...problems, ...(faults ? [t("library.faults", { count: number(faults) })] : [])];
      p.problems.hidden = !lines.length;
      p.problems.replaceChildren(h("summary", {}, t("library.problems")), ...lines.map((line) => h("p", { class: "soft" }, line)));
      await this.#find();
    } catch (error) {
      if (error.name === "AbortError") return;
      p.state.textContent = error.message;
      p.rows.replaceChildren();
      p.count.textContent = "";
    }
  }

  #wanted() {
    const f = this.#fields;
    const texts = Object.fromEntries(TEXTS.map((name) => [name, f[name].value]));
    const [from, to] = [f.from.value, f.to.value].map((year) => (year ? Number(year) : null));
    return {
      ...texts, own: f.own.checked, sort: f.sort.value, skip: this.#page * PAGE, most: PAGE,
      ...(f.winner.value ? { winner: f.winner.value } : {}),
      ...(from || to ? { years: [from ?? 0, to ?? 9_999] } : {}),
      ...(this.#position ? { game: this.#position } : {}),
    };
  }

  async #find(page = 0) {
    this.#page = page;
    const signal = this.#searches.begin();
    try {
      const found = await patient(() => post("/api/library/search", this.#wanted(), signal), signal);
      if (!signal.aborted) this.#draw(found);
    } catch (error) {
      complain(error);
    }
  }

  #turn(by) {
    this.#find(this.#page + by);
    this.#parts.rows.scrollTop = 0;
  }

  #draw({ total, games }) {
    const p = this.#parts;
    const from = this.#page * PAGE;
    const all = t("library.count", { count: number(total) });
    p.count.textContent = total > PAGE ? t("library.part", { from: from + 1, to: from + games.length, all }) : all;
    p.position.hidden = !this.#position;
    p.back.hidden = p.next.hidden = total <= PAGE;
    p.back.disabled = !this.#page;
    p.next.disabled = from + PAGE >= total;
    p.rows.replaceChildren(...games.map((game) => this.#row(game)));
  }

  /** @param {Listed} game */
  #row(game) {
    const about = [game.opening, game.event, date(game.date), game.board === "8x8" ? null : game.board];
    const open = button([
      h("span", {}, namesOf(game)), h("span", { class: "soft" }, about.filter(Boolean).join(", ")),
    ], () => this.#open(game.id));
    if (!game.own) return open;
    const label = t("library.delete.of", { game: namesOf(game) });
    const away = button(t("library.delete"), () => this.#delete(game), { class: "quiet", "aria-label": label });
    return h("div", { class: "row own" }, open, away);
  }

  async #open(id) {
    try {
      const { game, black, white, date: day, event, score } = await get(`/api/library/games/${id}`);
      this.#analyse(game, { black, white, date: date(day), event, result: score });
    } catch (error) {
      complain(error);
    }
  }

  async #delete(game) {
    if (!confirm(t("library.delete.sure", { game: namesOf(game) }))) return;
    try {
      await remove(`/api/library/games/${game.id}`);
    } catch (error) {
      complain(error);
    }
    this.#refresh();
  }
}

/** Asks again while the server reads files. */
async function patient(ask, signal) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (error.status !== BUSY || signal.aborted) throw error;
      await new Promise((done) => { setTimeout(done, AGAIN); });
    }
  }
}

const number = (count) => count.toLocaleString("en");

/** A date without the time of GGF: 2026.11.28_09:10:11.GMT is 2026.11.28. */
const date = (text) => text?.split("_")[0];

/** The games that fit some wishes. @param {Object} wanted @returns {Promise<Listed[]>} */
export async function listGames(wanted, signal) {
  await patient(() => get("/api/library", signal), signal);
  return (await patient(() => post("/api/library/search", wanted, signal), signal)).games;
}

/** The players and the score. @param {Listed} game */
export function namesOf({ black, white, score }) {
  const word = score === undefined || score === null ? "" : ` ${score > 0 ? "+" : ""}${score}`;
  return `${black ?? "?"} – ${white ?? "?"}${word}`;
}
