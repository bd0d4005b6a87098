// The review of a whole game: its progress, what each side lost, its mistakes, and "try again".

import { Latest, stream } from "./api.js";
import { announce, button, complain, h } from "./dom.js";
import { isMistake, lossOf, lossWord, valueOf } from "./losses.js";
import { t } from "./texts.js";
import { lowWord, ranked, sideWord, valueWord } from "./words.js";

export class Review {
  #host;
  #requests = new Latest();
  /** Requests about a move that is tried. They must not end the review. */
  #trials = new Latest();
  /** The signal of the review that goes on. @type {?AbortSignal} */
  #running = null;
  /** Whether the review waits until it may go on. */
  #isPaused = false;
  /** Whether something else than the user has ended the review, such as a browser that leaves the page. */
  #isCut = false;
  /** The mistake that is being tried again. @type {?import("./tree.js").Node} */
  #puzzle = null;
  #parts = {};
  element;

  /**
   * @param {{tree: () => import("./tree.js").Tree, player: () => string, go: (node) => void,
   *   redraw: () => void, ended: () => void}} host the view
   */
  constructor(host) {
    this.#host = host;
    const p = this.#parts;
    p.start = button(t("review.start"), () => (this.isRunning ? this.#stop() : this.start()), { class: "main" });
    p.progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": t("review.progress") });
    p.totals = h("div", { class: "totals" });
    p.looked = h("p", { class: "soft" });
    p.list = h("div", { class: "mistakes", "aria-label": t("review.title") });
    p.next = button(t("review.next"), () => this.next(), { "aria-keyshortcuts": "m" });
    p.puzzle = h("div", { class: "puzzle", hidden: true });
    this.element = h("section", { class: "card" },
      h("header", {}, h("h2", {}, t("review.title")), h("div", { class: "row" }, p.next, p.start)),
      p.progress, p.totals, p.looked, p.list);
  }

  /** The task of "try again", which belongs beside the board. */
  get task() {
    return this.#parts.puzzle;
  }

  get isRunning() {
    return this.#running !== null;
  }

  /** Whether a review goes on, or should do so in the next visit. */
  get isUnfinished() {
    return this.isRunning || this.#isPaused || this.#isCut;
  }

  /** Whether the answers must stay hidden. */
  get isPuzzle() {
    return this.#puzzle !== null;
  }

  /** Ends everything, for another game. */
  reset() {
    this.#end();
    this.#trials.end();
    this.#puzzle = null;
  }

  /** Analyses every position of the current line, or what an earlier review of it has left out. */
  async start() {
    const tree = this.#host.tree();
    const player = this.#host.player();
    const line = tree.line();
    const all = line.filter(({ over }) => !over);
    // The server begins at the end of a game, so what is left is its beginning.
    const left = all.filter(({ advice }) => !advice.get(player)?.done).at(-1) ?? all.at(-1);
    if (!left) return;
    const signal = this.#requests.begin();
    this.#running = signal;
    this.#isPaused = false;
    let isCut = false;
    let done = all.length - all.indexOf(left) - 1;
    const progress = () => { this.#parts.progress.value = done / all.length; };
    progress();
    this.#host.redraw();
    try {
      await stream("/api/review", { ...tree.game(left), player }, signal, (kind, found) => {
        if (kind !== "ply" || signal.aborted) return;
        line[found.ply].advice.set(player, ranked({ ...found, done: true, isReview: true }));
        done += 1;
        progress();
        this.#host.redraw();
      });
      if (!signal.aborted) announce(t("review.done", { count: this.#mistakes().length }));
    } catch (error) {
      isCut = !signal.aborted;
      complain(error);
    } finally {
      // Not if a newer review has begun. An abort ends the review whoever asked for it.
      if (this.#running === signal) {
        this.#end();
        this.#isCut = isCut;
        this.#host.ended();
      }
    }
  }

  /** Ends the review for now: it would slow down the replies of an opponent. */
  pause() {
    if (!this.isRunning) return;
    this.#end();
    this.#isPaused = true;
  }

  /** Goes on with a review that waits. */
  resume() {
    if (this.#isPaused) this.start();
  }

  #stop() {
    this.#end();
    this.#host.ended();
  }

  #end() {
    this.#requests.end();
    this.#running = null;
    this.#isPaused = false;
    this.#isCut = false;
  }

  /** Mistakes of the current line. @returns {import("./tree.js").Node[]} */
  #mistakes() {
    const player = this.#host.player();
    return this.#host.tree().line().filter((node) => lossOf(node, player)?.isMistake);
  }

  draw() {
    const p = this.#parts;
    const tree = this.#host.tree();
    const player = this.#host.player();
    const line = tree.line();
    const all = line.length - 1;
    const looked = line.filter((node) => lossOf(node, player)).length;
    const isPart = looked > 0 && looked < all;
    const mistakes = this.#mistakes();
    p.progress.hidden = !this.isRunning;
    p.start.textContent = this.isRunning ? t("review.stop") : isPart ? t("review.continue") : t("review.start");
    p.start.hidden = line.length < 2;
    p.next.disabled = !mistakes.length;
    p.totals.replaceChildren(...(looked ? ["black", "white"].map((side) => this.#total(side, line, player)) : []));
    p.looked.hidden = !isPart;
    p.looked.textContent = t("review.looked", { count: looked, all });
    const word = all === 0 ? t("review.nothing") : !looked ? t("review.not") : isPart ? t("review.part") : t("review.none");
    p.list.replaceChildren(...(this.#puzzle || mistakes.length ? [] : [h("p", { class: "soft" }, word)]),
      // The list would give away the answer's worth, but not the answer; so it stays.
      ...mistakes.map((node) => this.#entry(node, player, tree.current)));
  }

  #total(side, line, player) {
    const own = line.map((node) => node.ply.mover === side && lossOf(node, player)).filter(Boolean);
    const lost = own.filter(({ unit }) => unit === "discs").reduce((sum, { amount }) => sum + amount, 0);
    const count = own.filter((loss) => loss.isMistake).length;
    return h("div", { class: side }, h("span", { class: `chip ${side}` }), h("span", {},
      t("review.total", { side: sideWord(side), discs: lost.toFixed(0), count })));
  }

  #entry(node, player, current) {
    const loss = lossOf(node, player);
    return button([
      h("span", { class: `chip ${node.ply.mover}` }), h("span", {}, `${node.depth}. ${node.move}`),
      h("span", { class: "soft" }, loss.proven ? t("words.proven") : t("review.estimated")), h("span", { class: "lost" }, lossWord(loss)),
    ], () => this.#try(node), {
      "aria-label": t("review.again", { number: node.depth, side: lowWord(node.ply.mover), move: node.move, loss: lossWord(loss) }),
      "aria-current": node.parent === current ? "true" : false,
    });
  }

  /** Goes to the next mistake after the current position, and asks for a better move. */
  next() {
    const mistakes = this.#mistakes();
    if (!mistakes.length) return;
    const here = this.#host.tree().current.depth;
    // The mistake of this very position comes first, unless it is the one being tried.
    const least = this.#puzzle ? here + 1 : here;
    this.#try(mistakes.find(({ depth }) => depth - 1 >= least) ?? mistakes[0]);
  }

  #try(node) {
    this.#puzzle = node;
    const loss = lossOf(node, this.#host.player());
    this.#ask(t("review.task", { side: sideWord(node.ply.mover), move: node.move, loss: lossWord(loss) }));
    this.#host.go(node.parent);
    // On a phone the list is far below the board.
    this.#parts.puzzle.parentElement?.scrollIntoView({ block: "nearest" });
  }

  #ask(text) {
    this.#parts.puzzle.hidden = false;
    this.#parts.puzzle.replaceChildren(h("p", {}, text), h("div", { class: "row" },
      button(t("review.show"), () => this.#answer()),
      button(t("review.leave"), () => this.leave(), { class: "quiet" })));
    announce(text);
  }

  /** Ends "try again". */
  leave() {
    this.#parts.puzzle.hidden = true;
    if (!this.#puzzle) return;
    this.#puzzle = null;
    this.#host.ended();
  }

  #answer() {
    const { advice, ply } = this.#puzzle.parent;
    const best = advice.get(this.#host.player()).hints[0];
    const move = best.score === null ? best.move : t("review.worth", { move: best.move, value: valueWord(best, ply.side) });
    this.#puzzle = null;
    this.#parts.puzzle.replaceChildren(h("p", {}, t("review.answer", { move, line: best.line.join(" ") })),
      h("div", { class: "row" }, button(t("review.leave"), () => this.leave(), { class: "quiet" })));
    this.#host.ended();
  }

  /** Judges a move that is tried in place of the mistake. @param {string} square */
  async attempt(square) {
    const puzzle = this.#puzzle;
    const { parent } = puzzle;
    if (!parent.ply.legal.includes(square)) return;
    if (square === puzzle.move) {
      this.#ask(t("review.same", { square }));
      return;
    }
    const best = parent.advice.get(this.#host.player()).hints[0];
    try {
      const lost = await this.#lost(square, parent, best);
      if (this.#puzzle !== puzzle) return;
      this.#judge(square, lost, best);
    } catch (error) {
      complain(error);
    }
  }

  #judge(square, lost, best) {
    if (lost === null) this.#ask(t("review.unknown", { square }));
    else if (square === best.move) this.#ask(t("review.best", { square }));
    else if (isMistake(lost.discs, lost.proven)) this.#ask(t("review.bad", { square, discs: lost.discs.toFixed(1) }));
    else this.#ask(t("review.good", { square, discs: Math.max(0, lost.discs).toFixed(1) }));
  }

  /** What a move loses against the best one, in discs; where needed, the server is asked. */
  async #lost(square, parent, best) {
    if (best.score === null) return null;
    const player = this.#host.player();
    const known = parent.advice.get(player).hints.find(({ move }) => move === square);
    const isKnown = known && known.score !== null && (known.bound === "exact" || best.bound !== "exact");
    if (isKnown) return { discs: best.score - known.score, proven: known.bound === "exact" };
    const tree = this.#host.tree();
    const node = await tree.probe(square, parent);
    const own = (value) => (parent.ply.side === "black" ? value : -value);
    if (!node.over) {
      const game = tree.game(parent);
      await stream("/api/hints", { ...game, moves: game.moves + square, player, seconds: 20 }, this.#trials.begin(),
        (kind, advice) => { if (kind === "hints") node.advice.set(player, advice); });
    }
    const value = valueOf(node, player);
    if (!value || value.score === null) return null;
    return { discs: best.score - own(value.score), proven: value.exact && best.bound === "exact" };
  }
}
