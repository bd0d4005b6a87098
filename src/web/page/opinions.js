// Several players' opinions of one position, side by side, each with its source and depth.

import { Latest, stream } from "./api.js";
import { button, complain, h } from "./dom.js";
import { limitChoice, limitFields } from "./limits.js";
import { RATINGS, haveRatings, opinionOf, opinionsOf, playerOptions } from "./menu.js";
import { Rows } from "./peek.js";
import { t } from "./texts.js";
import { isThin, nothingWord, ranked, ruleWord, short, sourceCell, sourceWord, valueWord } from "./words.js";

const MOST = 3;
const SHOWN = 6;
/** A move with a proven value is always shown. */
const isExact = ({ bound }) => bound === "exact";
/** The limit of a search that goes on. */
const LONG = "s120";

export class Opinions {
  #about;
  #onchange;
  #onmove;
  #onpeek;
  #setup = null;
  #cards = [];
  #position = null;
  #pause = "";
  #add;
  #limit = limitChoice(() => this.#reask());
  #ratings;
  element;

  /**
   * @param {import("./main.js").About} about
   * @param {{onchange: () => void, onmove: (move: string) => void, onpeek: (player: string, move: ?string) => void}} events
   */
  constructor(about, { onchange, onmove, onpeek }) {
    this.#about = about;
    this.#onchange = onchange;
    this.#onmove = onmove;
    this.#onpeek = onpeek;
    this.#add = button(t("opinions.more"), () => this.#more(), { class: "quiet" });
    this.box = h("div", { class: "opinions" });
    this.#ratings = h("p", { class: "soft" }, RATINGS);
    this.element = h("section", { class: "card" },
      h("header", {}, h("h2", {}, t("opinions.title")), this.#add),
      h("div", { class: "row" }, this.#limit.element), this.box, this.#ratings);
  }

  /** The first opinion's player: the graph and the board show its values. */
  get first() {
    return this.#cards[0]?.player ?? "";
  }

  /** All players that are asked. */
  get chosen() {
    return this.#cards.map(({ player }) => player);
  }

  /** How long is searched, see `limits.js`. */
  get limit() {
    return this.#limit.value;
  }

  /** Sets the board and goal, which decide who can be asked, and whom to ask at first. */
  setSetup(setup, wanted = []) {
    if (this.#setup?.board === setup.board && this.#setup?.goal === setup.goal && !wanted.length) return;
    this.#setup = setup;
    this.end();
    const asked = this.players().map(({ id }) => id).filter((id) => wanted.includes(id)).slice(0, MOST);
    asked.sort((a, b) => wanted.indexOf(a) - wanted.indexOf(b));
    this.#cards = (asked.length ? asked : [opinionOf(this.#about, setup).id]).map((id) => new Card(this, id));
    this.#lay();
  }

  /** Players that can be asked. */
  players() {
    return opinionsOf(this.#about, this.#setup);
  }

  /**
   * Shows what is known about a position, and asks for what is not.
   * @param {?{node: import("./tree.js").Node, game: import("./api.js").Game}} position `null`: none
   * @param {string} [pause] why nothing is asked now
   */
  show(position, pause = "") {
    const isNew = position?.node !== this.#position?.node || pause !== this.#pause;
    this.#position = position;
    this.#pause = pause;
    for (const card of this.#cards) if (isNew) card.show(position, pause);
  }

  /** Draws anew what is known, without asking. */
  refresh() {
    for (const card of this.#cards) card.draw(this.#position, this.#pause);
  }

  end() {
    for (const card of this.#cards) card.requests.end();
    this.#position = null;
  }

  /**
   * Whether the server can prove more about a position than a review has found: that ends when the best
   * move is proven.
   */
  isOpen({ ply, advice }, player) {
    const found = advice.get(player);
    const empties = ply.discs.length - ply.black - ply.white;
    return Boolean(found?.isReview) && empties <= this.#about.solved_from && !found.hints.every(isExact);
  }

  /** Whether something was searched for as long as is wanted now. */
  isEnough(advice) {
    return Boolean(advice?.done) && (this.limit === "own" || advice.limit === this.limit || isFinal(advice));
  }

  /** Asks again after the limit has changed. */
  #reask() {
    for (const card of this.#cards) card.show(this.#position, this.#pause);
  }

  changed(card) {
    card.show(this.#position, this.#pause);
    this.#onchange();
  }

  found() {
    this.#onchange();
  }

  choose(move) {
    this.#onmove(move);
  }

  /** @param {Card} card @param {?string} move of the hint that is pointed at */
  peek(card, move) {
    this.#onpeek(card.player, move);
  }

  remove(card) {
    card.requests.end();
    this.#cards = this.#cards.filter((other) => other !== card);
    this.#lay();
    this.#onchange();
  }

  #more() {
    const used = this.chosen;
    const wanted = ["alphabeta10", "policy", "solver"];
    const free = this.players().map(({ id }) => id).filter((id) => !used.includes(id));
    const next = wanted.find((id) => free.includes(id)) ?? free[0];
    if (!next) return;
    const card = new Card(this, next);
    this.#cards.push(card);
    this.#lay();
    card.show(this.#position, this.#pause);
  }

  #lay() {
    this.#ratings.hidden = !haveRatings(this.players());
    this.#add.hidden = this.#cards.length >= Math.min(MOST, this.players().length);
    this.box.replaceChildren(...this.#cards.map(({ element }) => element));
    this.#cards.forEach((card, index) => card.setRemovable(index > 0));
  }
}

class Card {
  requests = new Latest();
  #home;
  #select;
  #rows;
  #state = h("p", { class: "soft" });
  /** Why the first move is the first. */
  #rule = h("p", { class: "soft" });
  #on;
  #remove;
  #position = null;

  constructor(home, player) {
    this.#home = home;
    this.#rows = new Rows(h("tbody", {}), (move) => home.peek(this, move));
    this.#select = h("select", { "aria-label": t("opinions.who"), onchange: () => home.changed(this) },
      ...playerOptions(home.players()).map(([id, word]) => h("option", { value: id }, word)));
    this.#select.value = player;
    this.#on = button(t("opinions.on"), () => this.#ask(true), { class: "quiet" });
    this.#remove = button(t("opinions.remove"), () => home.remove(this), { class: "quiet" });
    const head = ["move", "value", "source"].map((name) => h("th", {}, t(`opinions.${name}`)));
    this.element = h("section", { class: "opinion" }, this.#select,
      h("table", {}, h("thead", {}, h("tr", {}, ...head)), this.#rows.element), this.#rule, this.#state,
      h("div", { class: "row" }, this.#on, this.#remove));
  }

  get player() {
    return this.#select.value;
  }

  setRemovable(can) {
    this.#remove.hidden = !can;
  }

  show(position, pause) {
    this.requests.end();
    this.draw(position, pause);
    if (!position || pause || position.node.over) return;
    if (!this.#home.isEnough(position.node.advice.get(this.player)) || this.#home.isOpen(position.node, this.player)) this.#ask(false);
  }

  draw(position, pause) {
    this.#position = position;
    const advice = position?.node.advice.get(this.player);
    this.#on.hidden = !advice?.done || isFinal(advice) || Boolean(pause) || position?.node.over;
    if (!position) return this.#empty("");
    if (position.node.over) return this.#empty(t("ply.over"));
    if (!advice?.hints.length) return this.#empty(pause || nothingWord(advice));
    const played = position.node.children.map(({ move }) => move);
    const shown = advice.hints.filter((hint, index) => index < SHOWN || isExact(hint));
    this.#rows.draw(shown.map((hint) => h("tr", { class: played.includes(hint.move) && "played", "data-move": hint.move },
      h("td", {}, button(hint.move, () => this.#home.choose(hint.move), { title: hint.line.join(" ") })),
      valueCell(hint, advice.hints, position.node.ply.side),
      h("td", { title: sourceWord(hint) }, sourceCell(hint)))));
    this.#rule.textContent = ruleWord(advice.hints);
    const speed = t("opinions.speed", { count: short(advice.nodes), seconds: advice.seconds.toFixed(advice.seconds < 1 ? 2 : 1) });
    this.#state.textContent = advice.done ? speed : `${speed} …`;
    return undefined;
  }

  #empty(text) {
    this.#rows.draw([]);
    this.#rule.textContent = "";
    this.#state.textContent = text;
  }

  async #ask(isLong) {
    const signal = this.requests.begin();
    const { node, game } = this.#position;
    const { player } = this;
    const { limit } = this.#home;
    this.#on.hidden = true;
    const question = { ...game, player, ...limitFields(isLong ? LONG : limit) };
    try {
      await stream("/api/hints", question, signal, (kind, advice) => {
        if (kind !== "hints" || signal.aborted) return;
        const known = node.advice.get(player);
        // A longer search begins with less than what a shorter one has found.
        if (known?.done && !advice.done && (advice.nodes < known.nodes || isLess(advice, known))) return;
        const found = { ...(isLess(advice, known) ? { ...known, isReview: false } : ranked(advice)), limit };
        // If the user goes on before the end, the review's value must not be lost.
        node.advice.set(player, known?.isReview && !advice.done ? { ...found, isReview: true, done: true } : found);
        this.draw(this.#position, "");
        this.#home.found();
      });
    } catch (error) {
      if (signal.aborted) return;
      // The server may have too much to do, which is no reason to lose the page.
      if (error.status === 503) this.#empty(t("server.busy"));
      else complain(error);
    }
  }
}

/** Whether a longer search cannot say more. */
const isFinal = ({ hints, answers_from }) => Boolean(answers_from) || (hints.length > 0 && hints.every(isExact));

/** Whether an advice lacks the proof that an earlier one had. */
const isLess = (advice, known) => Boolean(known?.hints[0]) && isExact(known.hints[0]) && !(advice.hints[0] && isExact(advice.hints[0]));

/** A value in its cell: proven, sound, or carried by few visits. */
function valueCell(hint, hints, side) {
  const thin = isThin(hint, hints);
  return h("td", { class: hint.bound === "exact" ? "proven-mark" : thin && "thin" }, valueWord(hint, side, thin));
}
