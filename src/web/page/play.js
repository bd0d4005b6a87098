// Play against a level, with hints, undo, a clock and any opening.

import { Latest, post, stream } from "./api.js";
import { Board, plyWord } from "./board.js";
import { announce, button, choice, complain, dialog, h, keep, recall } from "./dom.js";
import { goalOptions, opinionOf, playerOptions, playersOf } from "./menu.js";
import { Tree } from "./tree.js";
import { clockWord, other, resultWord, sideWord, sourceWord, squareHints, valueWord } from "./words.js";

/** The flips of a move are seen before the opponent answers, in milliseconds. */
const LEAST_PAUSE = 500;
const OPENINGS = [["0", "Standard start"], ["4", "4 random moves"], ["8", "8 random moves"], ["12", "12 random moves"]];
const CLOCKS = [["0", "No clock"], ["1", "1 minute each"], ["5", "5 minutes each"], ["15", "15 minutes each"]];
const SIDES = [["black", "Black, moves first"], ["white", "White"], ["random", "By chance"], ["both", "Both sides"], ["none", "Neither: watch"]];

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
  #isThinking = false;
  /** Seconds left for each side. */
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
    p.advice = h("ol", { class: "advice", hidden: true });
    p.moves = h("ol", { class: "sheet", "aria-label": "Moves" });
    p.review = button("Analyse this game", () => this.#analyse(this.#tree.game(this.#end()), this.#names()), { class: "main", hidden: true });
    p.fresh = button("New game", () => this.#offer(), { class: "main", "aria-keyshortcuts": "n" });
    p.dialog = this.#newGameDialog();
    this.element = h("div", { class: "play" },
      h("section", { class: "stage", "aria-label": "Game" }, p.board.element, p.banner),
      h("section", { class: "side" },
        h("div", { class: "players" }, p.black.element, p.white.element),
        p.status,
        h("div", { class: "actions" }, p.undo, p.redo, p.hint, p.resign),
        h("div", { class: "actions" }, p.fresh, p.review),
        p.advice, p.moves,
        h("p", { class: "keys" }, "Keys: arrows and Enter play, U undo, R redo, H hint, N new game.")),
      p.dialog);
  }

  #newGameDialog() {
    const set = this.#settings;
    const f = this.#parts.form = {};
    f.level = choice("Opponent", [], "");
    f.side = choice("You play", SIDES, set.side);
    f.board = choice("Board", this.#about.boards.map(({ name }) => [name, name]), set.board, () => this.#offerLevels());
    f.goal = choice("To win", goalOptions, set.goal, () => this.#offerLevels());
    f.opening = choice("Opening", OPENINGS, set.opening);
    f.clock = choice("Clock", CLOCKS, set.clock);
    const begin = button("Start", () => { this.#parts.dialog.close(); this.#begin(); }, { class: "main", autofocus: true });
    const form = h("form", { class: "fields two", onsubmit: (event) => event.preventDefault() },
      ...Object.values(f).map(({ element }) => element), begin);
    this.#offerLevels(set.level);
    return dialog("New game", form);
  }

  #offerLevels(chosen) {
    const { level, board, goal } = this.#parts.form;
    const players = playersOf(this.#about, board.value, goal.value);
    const options = playerOptions(players.filter(({ id }) => !["policy", "solver", "alphabeta10"].includes(id)));
    const wanted = chosen ?? level.value;
    level.offer(options, options.some(([id]) => id === wanted) ? wanted : this.#about.default_level);
  }

  show() {
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
    const { moves, start, people, board, goal } = this.#settings;
    try {
      this.#tree = await Tree.load({ board, goal, ...(start ? { start } : {}), moves });
      this.#people = new Set(people ?? ["black"]);
    } catch {
      // Kept by another version of the program.
      this.#tree = await Tree.load({ board: "8x8", goal: "most", moves: "" });
      this.#people = new Set(["black"]);
    }
    this.#tree.current = this.#end();
    this.#startClock();
    this.#update(false);
    this.#think();
  }

  async #begin() {
    const { form } = this.#parts;
    for (const name of ["level", "side", "board", "goal", "opening", "clock"]) this.#settings[name] = form[name].value;
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

  #startClock() {
    const minutes = Number(this.#settings.clock);
    this.#clock = minutes ? { black: minutes * 60, white: minutes * 60, at: performance.now() } : null;
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
    this.#isThinking = true;
    this.#status();
    const pause = new Promise((resolve) => setTimeout(resolve, tree.current.move ? LEAST_PAUSE : 0));
    try {
      const question = { ...tree.game(), player: this.#level().id };
      const [answer] = await Promise.all([post("/api/move", question, signal), pause]);
      if (signal.aborted) return;
      this.#isThinking = false;
      await this.#advance(answer.move);
    } catch (error) {
      complain(error);
    } finally {
      if (!signal.aborted) {
        this.#isThinking = false;
        this.#status();
      }
    }
  }

  /** Goes back to the person's last turn. */
  #undo() {
    if (!this.#tree?.current.parent) return;
    this.#moves.end();
    this.#isThinking = false;
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
    this.#isThinking = false;
    this.#update(false);
    announce(this.#result());
  }

  #tick() {
    if (!this.#clock || !this.#tree) return;
    const now = performance.now();
    const passed = (now - this.#clock.at) / 1000;
    this.#clock.at = now;
    // The clock stands while one looks at undone moves, and before the first move.
    const tree = this.#tree;
    if (this.#isOver() || tree.current.children.length || !tree.current.parent) return;
    const side = tree.current.ply.side;
    this.#clock[side] -= passed;
    this.#showClock();
    if (this.#clock[side] <= 0) {
      this.#resigned = { side, how: "has no time left" };
      this.#stop();
    }
  }

  #showClock() {
    for (const side of ["black", "white"]) {
      const box = this.#parts[side].clock;
      box.hidden = !this.#clock;
      if (this.#clock) box.textContent = clockWord(this.#clock[side]);
      box.classList.toggle("short", Boolean(this.#clock) && this.#clock[side] < 20);
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
    advice.hidden = true;
    if (!this.#wantsHints || !this.#tree || this.#isOver() || !this.#isPersonsTurn()) {
      this.#draw();
      return;
    }
    const node = this.#tree.current;
    const player = opinionOf(this.#about, this.#tree.setup);
    try {
      await stream("/api/hints", { ...this.#tree.game(), player: player.id, seconds: 20 }, signal, (kind, found) => {
        if (kind !== "hints" || signal.aborted) return;
        this.#draw(false, found);
        advice.hidden = false;
        advice.replaceChildren(...found.hints.slice(0, 5).map((hint) => h("li", {},
          h("b", {}, hint.move), h("span", { class: "value" }, valueWord(hint)), h("span", { class: "source" }, sourceWord(hint)))));
        if (found.done && found.hints[0]) announce(`Best: ${found.hints[0].move}, ${valueWord(found.hints[0])}`);
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
      hints: squareHints(advice?.hints ?? []),
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
    this.#showMoves();
    this.#ask();
    Object.assign(this.#settings, tree.game(this.#end()), { people: [...this.#people], start: tree.setup.start });
    keep("play", this.#settings);
  }

  #showMoves() {
    const tree = this.#tree;
    const rows = tree.mainLine().slice(1).map((node) => h("li", {},
      button(`${node.depth}. ${node.move}`, () => { this.#jump(node); }, {
        class: `move ${node.ply.mover}`, "aria-current": node === tree.current ? "true" : false,
        "aria-label": `Move ${node.depth}, ${node.ply.mover}, ${node.move}`,
      })));
    this.#parts.moves.replaceChildren(...rows);
    // Only the list may scroll: `scrollIntoView` would move the page on a phone.
    const list = this.#parts.moves;
    const here = list.querySelector("[aria-current]");
    if (here) list.scrollTop = here.offsetTop - list.offsetTop - list.clientHeight / 2;
  }

  /** Looks at an earlier position. The opponent waits until one is back, or moves. */
  #jump(node) {
    this.#moves.end();
    this.#isThinking = false;
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
      if (this.#isThinking) return `${this.#level().word} is thinking.`;
      if (children.length && !this.#isPersonsTurn()) return "You look at an earlier position.";
      if (this.#people.size === 1 && this.#isPersonsTurn()) return `Your move (${ply.side}).`;
      return `${sideWord(ply.side)} to move.`;
    };
    this.#parts.status.textContent = words();
  }
}

function playerCard(side) {
  const name = h("span", { class: "who" });
  const count = h("span", { class: "count", "aria-label": `${side} discs` });
  const clock = h("span", { class: "clock", hidden: true });
  const element = h("div", { class: `player ${side}` }, h("span", { class: "chip", "aria-hidden": "true" }),
    h("span", { class: "unseen" }, sideWord(side)), name, clock, count);
  return { element, name, count, clock };
}
