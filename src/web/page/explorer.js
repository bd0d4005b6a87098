// The explorer: what was played in the position that is analysed, how it ended, and what a book says.

import { Latest, post } from "./api.js";
import { button, h, s } from "./dom.js";
import { t } from "./texts.js";
import { openingWord } from "./words.js";

export class Explorer {
  #onmove;
  #onlist;
  #asks = new Latest();
  /** The position that is shown. @type {?{node: any, game: import("./api.js").Game}} */
  #position = null;
  #hasBook;
  #rows = h("div", { class: "explored" });
  #count = h("p", { class: "soft", role: "status" });
  #list = button(t("explorer.list"), () => this.#onlist(this.#position.game), { class: "quiet", hidden: true });
  element;

  /**
   * @param {{library: boolean, book: boolean}} about what there is
   * @param {(move: string) => void} onmove plays a move @param {(game) => void} onlist lists the games with a position
   */
  constructor(about, onmove, onlist) {
    this.#hasBook = about.book;
    this.#rows.classList.toggle("with-book", about.book);
    this.#onmove = onmove;
    this.#onlist = onlist;
    this.element = h("details", { class: "card explorer", ontoggle: () => this.#ask() },
      h("summary", {}, t("explorer.title")), about.library ? this.#count : null,
      about.book ? h("p", { class: "soft" }, t("explorer.book")) : null, this.#rows, this.#list);
  }

  /** @param {{node: any, game: import("./api.js").Game}} position */
  show(position) {
    if (this.#position?.node === position.node) return;
    this.#position = position;
    this.#ask();
  }

  end() {
    this.#asks.end();
    this.#position = null;
  }

  /** Asks only while somebody looks. */
  async #ask() {
    if (!this.element.open || !this.#position) return;
    const signal = this.#asks.begin();
    try {
      const found = await post("/api/library/explore", { game: this.#position.game }, signal);
      if (!signal.aborted) this.#draw(found);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#count.textContent = error.message;
      this.#rows.replaceChildren();
      this.#list.hidden = true;
    }
  }

  #draw({ games, moves }) {
    this.#count.textContent = t("explorer.count", { count: games.toLocaleString("en") });
    this.#list.hidden = !games;
    this.#rows.replaceChildren(...moves.map((next) => this.#row(next)));
  }

  #row({ move, games, black, draws, white, mean, book, ...names }) {
    const score = mean === null ? "" : signed(mean);
    const said = book ? bookWord(book) : "";
    const label = t("explorer.label", { move, games, black, draws, white });
    return button([
      h("b", {}, move), h("span", {}, games.toLocaleString("en")), bar([["black", black], ["draw", draws], ["white", white]]), h("span", {}, score),
      this.#hasBook ? h("span", { class: "book" }, said) : null, h("span", { class: "soft" }, openingWord(names) ?? ""),
    ], () => this.#onmove(move), { "aria-label": book ? `${label}. ${t("explorer.label.book", { score: said })}` : label });
  }
}

/** @param {number} discs */
function signed(discs) {
  return `${discs > 0 ? "+" : ""}${discs.toFixed(1)}`;
}

/** @param {{low: number, high: number, exact: boolean}} score */
function bookWord({ low, high, exact }) {
  if (low === high) return `${exact ? "= " : ""}${signed(low)}`;
  return `${signed(low)} … ${signed(high)}`;
}

/** The shares of the results. Attributes, since the server allows no styles in elements. @param {[string, number][]} counts */
function bar(counts) {
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  let from = 0;
  const rects = counts.map(([side, count]) => {
    const width = all ? (100 * count) / all : 0;
    from += width;
    return s("rect", { class: side, x: from - width, width, height: 10 });
  });
  return s("svg", { class: "wins", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, ...rects);
}
