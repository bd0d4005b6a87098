// Play against a level, with hints, undo, a clock and any opening.

import { AdviceList } from "./advice.js";
import { Latest, post, stream } from "./api.js";
import { Board, plyWord } from "./board.js";
import { Clock } from "./clock.js";
import { announce, button, complain, h } from "./dom.js";
import { opinionOf, playersOf } from "./menu.js";
import { showSheet } from "./moves.js";
import { NewGame } from "./newgame.js";
import { playerCard } from "./players.js";
import { keep, recall } from "./storage.js";
import { Tree } from "./tree.js";
import { other, ranked, resultWord, sideWord, squareHints } from "./words.js";

/** The flips of a move are seen before the opponent answers, in milliseconds. */
const LEAST_PAUSE = 500;

export class PlayView {
  #about;
  #analyse;
  #settings;
  /** @type {?Tree} */
  #tree = null;
  /** Sides that a person plays. @type {Set<string>} */
  #people = new Set();
  #resigned = null;
  #wantsHints = false;
  #hints = new Latest();
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
    this.#settings = recall("play", {
      level: about.default_level, side: "black", board: "8x8", goal: "most", opening: "0", clock: "0", moves: "",
    });
    this.#build();
    addEventListener("pagehide", () => this.#keep());
    this.#restore();
  }

  #build() {
    const p = this.#parts;
    p.board = new Board((square) => this.#play(square), "Board. Arrow keys move, Enter plays.");
    p.banner = h("p", { class: "banner", hidden: true });
    p.black = playerCard("black");
    p.white = playerCard("white");
    p.status = h("p", { class: "status" });
    p.hint = button("Hint", () => this.#toggleHints(), { "aria-keyshortcuts": "h", "aria-pressed": "false" });
    p.undo = button("Undo", () => this.#undo(), { "aria-keyshortcuts": "u" });
    p.redo = button("Redo", () => this.#redo(), { "aria-keyshortcuts": "r" });
    p.resign = button("Resign", () => this.#resign());
    p.advice = new AdviceList();
    p.moves = h("ol", { class: "sheet", "aria-label": "Moves" });
    p.review = button("Analyse this game", () => this.#analyse(this.#tree.game(this.#end()), this.#names()), { class: "main", hidden: true });
    p.fresh = button("New game", () => this.#offer(), { class: "main", "aria-keyshortcuts": "n" });
    p.dialog = new NewGame(this.#about, this.#settings, (chosen) => this.#begin(chosen)).box;
    this.element = h("div", { class: "play" },
      h("section", { class: "stage", "aria-label": "Game" }, p.board.element, p.banner),
      h("section", { class: "side" },
        h("div", { class: "players" }, p.black.element, p.white.element),
        p.status,
        h("div", { class: "actions" }, p.undo, p.redo, p.hint, p.resign),
        h("div", { class: "actions" }, p.fresh, p.review),
        p.advice.element, p.moves,
        h("p", { class: "keys" }, "Keys: arrows and Enter play, U undo, R redo, H hint, N new game.")),
      p.dialog);
  }

  show() {
    // The clock stands while another view is shown, since the opponent waits too.
    this.#clock?.pass(null);
    this.#ticks = setInterval(() => this.#tick(), 200);
    this.#think();
    this.#update(false);
  }

  hide() {
    clearInterval(this.#ticks);
    this.#moves.end();
    this.#hints.end();
  }

  key(name) {
    const actions = {
      u: () => this.#undo(), ArrowLeft: () => this.#undo(), r: () => this.#redo(), ArrowRight: () => this.#redo(),
      h: () => this.#toggleHints(), n: () => this.#offer(),
    };
    actions[name]?.();
    return name in actions;
  }

  #offer() {
    this.#parts.dialog.showModal();
  }

  /** The game of the last visit, or a new one. */
  async #restore() {
    const { moves, start, people, board, goal, left, resigned, depth } = this.#settings;
    try {
      this.#tree = await Tree.load({ board, goal, ...(start ? { start } : {}), moves });
      this.#people = new Set(people ?? ["black"]);
    } catch {
      // Kept by another version of the program.
      this.#tree = await Tree.load({ board: "8x8", goal: "most", moves: "" });
      this.#people = new Set(["black"]);
    }
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

  /** @param {Object<string, string>} chosen what the dialog asks for */
  async #begin(chosen) {
    Object.assign(this.#settings, chosen);
    const { board, goal, opening, side } = this.#settings;
    this.#moves.end();
    try {
      const game = opening === "0"
        ? { board, goal, moves: "" }
        : await post("/api/opening", { board, goal, plies: Number(opening) });
      this.#tree = await Tree.load(game);
    } catch (error) {
      complain(error);
      return;
    }
    this.#tree.current = this.#end();
    const drawn = side === "random" ? ["black", "white"][Math.floor(Math.random() * 2)] : side;
    this.#people = new Set({ both: ["black", "white"], none: [] }[drawn] ?? [drawn]);
    this.#resigned = null;
    this.#startClock();
    this.#update(false);
    announce(`New game. ${sideWord(this.#tree.current.ply.side)} to move.`);
    this.#think();
  }

  /** @param {{black: number, white: number}} [left] seconds; by default the clock of a new game */
  #startClock(left) {
    const seconds = Number(this.#settings.clock) * 60;
    this.#clock = seconds ? new Clock(seconds, left) : null;
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
      announce(`${square} cannot be played.`);
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
    from.children = [next];
    tree.current = next;
    this.#update(true);
    announce(next.over ? `${plyWord(next.ply)} ${this.#result()}` : plyWord(next.ply));
    this.#think();
  }

  /** Lets the opponent move, if it is its turn. */
  async #think() {
    const tree = this.#tree;
    if (!tree || this.#isOver() || this.#isPersonsTurn() || tree.current.children.length) return;
    const signal = this.#moves.begin();
    this.#thinking = signal;
    this.#status();
    const pause = new Promise((resolve) => setTimeout(resolve, tree.current.move ? LEAST_PAUSE : 0));
    try {
      const question = { ...tree.game(), player: this.#level().id };
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
    announce(`Taken back. ${sideWord(to.ply.side)} to move.`);
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
    announce(this.#result());
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
      this.#resigned = { side, how: "has no time left" };
      this.#stop();
    }
  }

  #showClock() {
    for (const side of ["black", "white"]) {
      this.#parts[side].clock.hidden = !this.#clock;
      this.#clock?.show(side, this.#parts[side].clock);
    }
  }

  #toggleHints() {
    this.#wantsHints = !this.#wantsHints;
    this.#parts.hint.setAttribute("aria-pressed", String(this.#wantsHints));
    this.#ask();
  }

  /** Shows hints for the position, as they improve. */
  async #ask() {
    const signal = this.#hints.begin();
    const { board, advice } = this.#parts;
    advice.hide();
    if (!this.#wantsHints || !this.#tree || this.#isOver() || !this.#isPersonsTurn()) {
      this.#draw();
      return;
    }
    const node = this.#tree.current;
    const player = opinionOf(this.#about, this.#tree.setup);
    try {
      await stream("/api/hints", { ...this.#tree.game(), player: player.id, seconds: 20 }, signal, (kind, news) => {
        if (kind !== "hints" || signal.aborted) return;
        const found = ranked(news);
        this.#draw(false, found);
        advice.show(found, node.ply.side);
      });
    } catch (error) {
      complain(error);
    }
    if (node !== this.#tree.current) board.show(this.#view());
  }

  #view(animate = false, advice = null) {
    const { ply } = this.#tree.current;
    return {
      discs: ply.discs, side: ply.side, last: ply.move, flipped: ply.flipped, animate,
      hints: squareHints(advice?.hints ?? [], ply.side),
      legal: this.#isPersonsTurn() ? ply.legal : [],
    };
  }

  #draw(animate = false, advice = null) {
    this.#parts.board.show(this.#view(animate, advice));
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
    if (ply.passed) p.banner.textContent = `${sideWord(ply.passed)} has no move. ${sideWord(ply.side)} moves again.`;
    p.undo.disabled = !tree.current.parent;
    p.redo.disabled = !tree.current.children.length;
    p.resign.disabled = this.#isOver() || !this.#people.size;
    p.review.hidden = !this.#isOver();
    this.#draw(animate);
    this.#showClock();
    this.#status();
    showSheet(p.moves, tree, (node) => this.#jump(node));
    this.#ask();
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
    const level = this.#level().word;
    const name = (side) => (this.#people.has(side) ? (this.#people.size === 2 ? sideWord(side) : "You") : level);
    return { black: name("black"), white: name("white") };
  }

  #level() {
    const { board, goal } = this.#tree.setup;
    const players = playersOf(this.#about, board, goal);
    const find = (id) => players.find((player) => player.id === id);
    return find(this.#settings.level) ?? find(this.#about.default_level) ?? players[0];
  }

  #result() {
    if (!this.#resigned) return resultWord({ ...this.#tree.setup, score: this.#tree.current.score, plies: [this.#tree.current.ply] });
    const { side, how } = this.#resigned;
    return `${sideWord(side)} ${how}. ${sideWord(other(side))} wins`;
  }

  #status() {
    if (!this.#tree) return;
    const { ply, children } = this.#tree.current;
    const words = () => {
      if (this.#isOver()) return `${this.#result()}.`;
      if (this.#thinking) return `${this.#level().word} is thinking.`;
      if (children.length && !this.#isPersonsTurn()) return "You look at an earlier position.";
      if (this.#people.size === 1 && this.#isPersonsTurn()) return `Your move (${ply.side}).`;
      return `${sideWord(ply.side)} to move.`;
    };
    this.#parts.status.textContent = words();
  }
}
