// Play against a level, with hints, undo, a clock and any opening.

import { Latest, post } from "./api.js";
import { archive } from "./archive.js";
import { Board, plyWord } from "./board.js";
import { Clock, timesOf } from "./clock.js";
import { announce, button, complain, h } from "./dom.js";
import { resultText, sideNames, statusText } from "./gametexts.js";
import { playerWord } from "./menu.js";
import { showSheet } from "./moves.js";
import { NewGame, usualGame } from "./newgame.js";
import { playerCard } from "./players.js";
import { PlayHints } from "./playhints.js";
import { Match, newTally } from "./series.js";
import { keep, recall } from "./storage.js";
import { t } from "./texts.js";
import { Tree } from "./tree.js";
import { other, sideWord, squareHints } from "./words.js";

/** The flips of a move are seen before the opponent answers, and shorter in a match, in milliseconds. */
const LEAST_PAUSE = 500;
const MATCH_PAUSE = 150;

export class PlayView {
  #about;
  #analyse;
  #settings;
  /** @type {?Tree} */
  #tree = null;
  /** Sides that a person plays. @type {Set<string>} */
  #people = new Set();
  #resigned = null;
  #moves = new Latest();
  /** The signal of the request for the opponent's move, or null. @type {?AbortSignal} */
  #thinking = null;
  /** @type {?Clock} */
  #clock = null;
  #ticks = 0;
  #parts = {};
  element;

  /** @param {import("./main.js").About} about @param {(game, names) => void} analyse */
  constructor(about, analyse) {
    this.#about = about;
    this.#analyse = analyse;
    this.#settings = recall("play", usualGame(about));
    this.#build();
    addEventListener("pagehide", () => this.#keep());
    this.#restore();
  }

  #build() {
    const p = this.#parts;
    p.board = new Board((square) => this.#play(square), t("board.keys"));
    p.banner = h("p", { class: "banner", hidden: true });
    p.black = playerCard("black");
    p.white = playerCard("white");
    p.status = h("p", { class: "status" });
    p.match = new Match(this.#about, this.#settings, (game, tally) => this.#begin({}, game ?? undefined, tally));
    p.hints = new PlayHints(this.#about, p.board, (isPart) => (isPart ? this.#draw() : this.#update(false)));
    p.undo = button(t("play.undo"), () => this.#undo(), { "aria-keyshortcuts": "u" });
    p.redo = button(t("play.redo"), () => this.#redo(), { "aria-keyshortcuts": "r" });
    p.resign = button(t("play.resign"), () => this.#resign());
    p.moves = h("ol", { class: "sheet", "aria-label": t("moves.title") });
    p.review = button(t("play.analyse"), () => this.#analyse(this.#tree.game(this.#end()), this.#names()), { class: "main", hidden: true });
    p.fresh = button(t("new.title"), () => this.#offer(), { class: "main", "aria-keyshortcuts": "n" });
    p.dialog = new NewGame(this.#about, this.#settings, (chosen) => this.#begin(chosen));
    this.element = h("div", { class: "play" },
      h("section", { class: "stage", "aria-label": t("play.game") }, p.board.element, p.banner),
      h("section", { class: "side" },
        h("div", { class: "players" }, p.black.element, p.white.element),
        p.status, p.match.element,
        h("div", { class: "actions" }, p.undo, p.redo, p.hints.button, p.resign),
        h("div", { class: "actions" }, p.fresh, p.review),
        p.hints.list, p.moves,
        h("p", { class: "keys" }, t("play.keys"))),
      p.dialog.box);
  }

  show() {
    // The clock stands while another view is shown, since the opponent waits too.
    this.#clock?.pass(null);
    this.#ticks = setInterval(() => this.#tick(), 200);
    if (this.#tree?.current.over && !this.#people.size) this.#parts.match.goOn();
    this.#think();
    this.#update(false);
  }

  hide() {
    clearInterval(this.#ticks);
    this.#parts.match.stop();
    this.#moves.end();
    this.#parts.hints.end();
  }

  key(name) {
    const actions = {
      u: () => this.#undo(), ArrowLeft: () => this.#undo(), r: () => this.#redo(), ArrowRight: () => this.#redo(),
      h: () => this.#parts.hints.toggle(), n: () => this.#offer(),
    };
    actions[name]?.();
    return name in actions;
  }

  #offer() {
    this.#parts.dialog.offer();
  }

  /** The game of the last visit, or a new one. */
  async #restore() {
    const { moves, start, people, board, goal, left, resigned, depth } = this.#settings;
    const usual = { board: "8x8", goal: "most", moves: "" };
    let sides = people ?? ["black"];
    const tree = await Tree.load({ board, goal, ...(start ? { start } : {}), moves }).catch(() => {
      // Kept by another version of the program.
      sides = ["black"];
      return Tree.load(usual);
    });
    // A game may have come from the analysis meanwhile.
    if (this.#tree) return;
    this.#tree = tree;
    this.#people = new Set(sides);
    this.#tree.current = this.#tree.mainLine()[depth] ?? this.#end();
    this.#startClock(left ?? undefined);
    this.#resigned = resigned ?? null;
    this.#update(false);
    this.#think();
  }

  /** Keeps the game for a later visit: also its clock, and how it was decided. */
  #keep() {
    const tree = this.#tree;
    if (!tree) return;
    Object.assign(this.#settings, tree.game(this.#end()), {
      people: [...this.#people], start: tree.setup.start, depth: tree.current.depth,
      left: this.#clock?.left ?? null, resigned: this.#resigned,
    });
    keep("play", this.#settings);
  }

  /** Plays a given game on. @param {import("./api.js").Game} game @param {Object<string, string>} chosen see {@link NewGame} */
  open(game, chosen) {
    this.#begin({ ...chosen, opening: this.#settings.opening }, game);
  }

  /** Asks for a game against the net of a run, or for a match of it. See {@link NewGame.offerNet}. */
  offerNet(player, side) {
    this.#parts.dialog.offerNet(player, side);
  }

  /** @param {Object<string, string>} chosen what the dialog asks for @param {import("./api.js").Game} [game] the game so far
   * @param {import("./series.js").Tally} [tally] of the match to which it belongs */
  async #begin(chosen, game, tally = newTally(Number(chosen.games ?? 1))) {
    Object.assign(this.#settings, chosen, { tally });
    this.#parts.match.stop();
    const { board, goal, opening, side } = this.#settings;
    this.#moves.end();
    try {
      const fresh = () => (opening === "0" ? { board, goal, moves: "" } : post("/api/opening", { board, goal, plies: Number(opening) }));
      this.#tree = await Tree.load(game ?? await fresh());
    } catch (error) {
      complain(error);
      return;
    }
    this.#tree.current = this.#end();
    this.#settings.opened = this.#tree.game();
    const drawn = side === "random" ? ["black", "white"][Math.floor(Math.random() * 2)] : side;
    this.#people = new Set({ both: ["black", "white"], none: [] }[drawn] ?? [drawn]);
    this.#resigned = null;
    this.#startClock();
    this.#update(false);
    announce(t("play.begun", { turn: t("turn.side", { side: sideWord(this.#tree.current.ply.side) }) }));
    this.#think();
  }

  /** @param {{black: number, white: number}} [left] seconds; by default the clock of a new game */
  #startClock(left) {
    const times = timesOf(this.#settings, this.#people);
    this.#clock = times ? new Clock(times, left) : null;
  }

  #end() {
    return this.#tree.mainLine().at(-1);
  }

  #isOver() {
    return this.#resigned !== null || this.#tree.current.over;
  }

  #isPersonsTurn() {
    return !this.#isOver() && this.#people.has(this.#tree.current.ply.side);
  }

  async #play(square) {
    if (!this.#tree || !this.#isPersonsTurn()) return;
    if (!this.#tree.current.ply.legal.includes(square)) {
      announce(t("play.illegal", { square }));
      return;
    }
    try {
      await this.#advance(square);
    } catch (error) {
      complain(error);
    }
  }

  /** Makes a move in the game. What was undone before is forgotten, unless it is this move. */
  async #advance(square) {
    const tree = this.#tree;
    const from = tree.current;
    const next = await tree.play(square, from);
    if (this.#tree !== tree || tree.current !== from) return;
    this.#charge(from);
    from.children = [next];
    tree.current = next;
    this.#update(true);
    announce(next.over ? `${plyWord(next.ply)} ${resultText(this.#tree, this.#resigned)}` : plyWord(next.ply));
    if (next.over) this.#finish();
    this.#think();
  }

  /** Keeps a finished game, or counts it in a match. */
  #finish() {
    this.#archive();
    if (!this.#people.size) this.#parts.match.count(this.#tree.current.score);
    this.#status();
  }

  /** Puts the game into the library. */
  #archive() {
    if (!this.#about.library) return;
    const shape = this.#about.boards.find(({ name }) => name === this.#tree.setup.board);
    archive(this.#tree, { people: this.#people, opponent: this.#level().word, decided: this.#resigned, squares: shape.squares.length });
  }

  /** The time of a move. Before the first one the clock stands. */
  #charge({ parent, ply: { side } }) {
    this.#clock?.pass(parent ? side : null);
    if (parent) this.#clock?.add(side);
  }

  /** Lets the opponent move, if it is its turn. */
  async #think() {
    const tree = this.#tree;
    if (!tree || this.#isOver() || this.#isPersonsTurn() || tree.current.children.length) return;
    const signal = this.#moves.begin();
    this.#thinking = signal;
    this.#status();
    const side = tree.current.ply.side;
    const clock = this.#clock?.of(side);
    // With little time left a level moves at once.
    const wait = Math.min(this.#people.size ? LEAST_PAUSE : MATCH_PAUSE, clock ? clock.left * 20 : Infinity);
    const pause = new Promise((resolve) => setTimeout(resolve, tree.current.move ? wait : 0));
    try {
      const question = { ...tree.game(), player: this.#level(side).id, ...clock };
      const [answer] = await Promise.all([post("/api/move", question, signal), pause]);
      if (signal.aborted) return;
      this.#thinking = null;
      await this.#advance(answer.move);
    } catch (error) {
      complain(error);
    } finally {
      // Not if a newer request has begun. An abort ends the thinking whoever asked for it.
      if (this.#thinking === signal) this.#thinking = null;
      this.#status();
    }
  }

  /** Goes back to the person's last turn. */
  #undo() {
    if (!this.#tree?.current.parent) return;
    this.#moves.end();
    this.#thinking = null;
    this.#resigned = null;
    let to = this.#tree.current.parent;
    while (to.parent && !this.#people.has(to.ply.side) && this.#people.size) to = to.parent;
    this.#tree.current = to;
    this.#update(false);
    announce(t("play.undone", { turn: t("turn.side", { side: sideWord(to.ply.side) }) }));
    this.#think();
  }

  #redo() {
    let to = this.#tree?.current.children[0];
    if (!to) return;
    while (to.children[0] && !this.#people.has(to.ply.side)) to = to.children[0];
    this.#tree.current = to;
    this.#update(false);
    announce(plyWord(to.ply));
    this.#think();
  }

  #resign() {
    if (this.#isOver() || !this.#people.size) return;
    const turn = this.#tree.current.ply.side;
    this.#resigned = { side: this.#people.has(turn) ? turn : other(turn), how: "resigns" };
    this.#stop();
  }

  /** Ends a game that was decided off the board. */
  #stop() {
    this.#moves.end();
    this.#thinking = null;
    this.#update(false);
    announce(resultText(this.#tree, this.#resigned));
    this.#archive();
  }

  #tick() {
    if (!this.#clock || !this.#tree) return;
    // The clock stands while one looks at undone moves, and before the first move.
    const { current } = this.#tree;
    const isStanding = this.#isOver() || current.children.length || !current.parent;
    const { side } = current.ply;
    const hasTime = this.#clock.pass(isStanding ? null : side);
    this.#showClock();
    if (!hasTime) {
      this.#resigned = { side, how: "time" };
      this.#stop();
    }
  }

  #showClock() {
    for (const side of ["black", "white"]) {
      this.#parts[side].clock.hidden = true;
      this.#clock?.show(side, this.#parts[side].clock);
    }
  }

  #view(animate) {
    const { ply } = this.#tree.current;
    return {
      discs: ply.discs, side: ply.side, last: ply.move, flipped: ply.flipped, animate,
      hints: squareHints(this.#parts.hints.of(this.#tree.current), ply.side),
      legal: this.#isPersonsTurn() ? ply.legal : [],
    };
  }

  #draw(animate = false) {
    this.#parts.board.show(this.#view(animate));
  }

  #update(animate) {
    const tree = this.#tree;
    if (!tree) return;
    const p = this.#parts;
    p.board.setShape(this.#about.boards.find(({ name }) => name === tree.setup.board));
    const { ply } = tree.current;
    const names = this.#names();
    for (const side of ["black", "white"]) {
      p[side].name.textContent = names[side];
      p[side].count.textContent = ply[side];
      p[side].element.classList.toggle("turn", !this.#isOver() && ply.side === side);
    }
    p.banner.hidden = !ply.passed || tree.current.over;
    if (ply.passed) p.banner.textContent = t("play.passed", { side: sideWord(ply.passed), other: sideWord(ply.side) });
    p.undo.disabled = !tree.current.parent;
    p.redo.disabled = !tree.current.children.length;
    p.resign.disabled = this.#isOver() || !this.#people.size;
    p.review.hidden = !this.#isOver();
    p.hints.ask(this.#isPersonsTurn() ? tree : null);
    this.#draw(animate);
    this.#showClock();
    this.#status();
    showSheet(p.moves, tree, (node) => this.#jump(node));
    this.#keep();
  }

  /** Looks at an earlier position. The opponent waits until one is back, or moves. */
  #jump(node) {
    this.#moves.end();
    this.#thinking = null;
    this.#tree.current = node;
    this.#update(false);
    this.#think();
  }

  #names() {
    return sideNames(this.#people, (side) => playerWord(this.#level(side)));
  }

  #level(side) {
    return this.#parts.match.player(this.#tree.setup, side, this.#people.size > 0);
  }

  #status() {
    if (!this.#tree) return;
    const thinking = this.#thinking ? playerWord(this.#level(this.#tree.current.ply.side)) : null;
    this.#parts.status.textContent = statusText(this.#tree, { people: this.#people, resigned: this.#resigned, thinking });
    this.#parts.match.draw(this.#tree.setup, this.#people.size > 0);
  }
}
