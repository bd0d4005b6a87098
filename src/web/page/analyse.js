// Analyse a game: opinions, the graph, mistakes, branches, and earlier nets.

import { Latest, post } from "./api.js";
import { Board, plyWord } from "./board.js";
import { caption } from "./caption.js";
import { putOnClipboard } from "./clipboard.js";
import { announce, button, choice, complain, h, notice } from "./dom.js";
import { Editor } from "./editor.js";
import { Explorer } from "./explorer.js";
import { Glance } from "./glance.js";
import { ValueGraph } from "./graph.js";
import { Keeper, recallAnalysis } from "./kept.js";
import { Lens } from "./lens.js";
import { linkOf, readLink } from "./link.js";
import { goalOptions } from "./menu.js";
import { MoveList } from "./moves.js";
import { NewGame, usualGame } from "./newgame.js";
import { Opinions } from "./opinions.js";
import { OVERLAYS, overlay, shares } from "./overlay.js";
import { PasteDialog } from "./paste.js";
import { Peek } from "./peek.js";
import { playersRow } from "./players.js";
import { Review } from "./review.js";
import { saveMenu } from "./save.js";
import { recall } from "./storage.js";
import { t } from "./texts.js";
import { Tree } from "./tree.js";
import { VIEW } from "./words.js";

/** @typedef {import("./players.js").Names} Names */

export class AnalyseView {
  #about;
  #playOn;
  #list;
  /** @type {Tree} */
  #tree = null;
  #names = {};
  #isEditing = false;
  #isShown = false;
  /** The net's view of the current position, for the overlays. */
  #glance = new Glance(() => this.#draw(false));
  #loads = new Latest();
  #keeper = new Keeper(() => ({
    tree: this.#tree, players: this.#tree ? this.#parts.opinions.players() : [],
    more: { names: this.#names, opinions: this.#parts.opinions.chosen, isReviewing: this.#parts.review.isUnfinished },
  }));
  #parts = {};
  element;

  /** @param {import("./main.js").About} about @param {(game, chosen) => void} playOn plays a game on
   * @param {(game) => void} list lists the games with a position */
  constructor(about, playOn, list) {
    this.#about = about;
    this.#playOn = playOn;
    this.#list = list;
    this.#build();
    this.#recall();
  }

  #build() {
    const p = this.#parts;
    p.board = new Board((square) => this.#square(square), t("board.keys"));
    p.board.onpoint = (square) => this.#peek(square);
    p.peek = new Peek(p.board);
    p.graph = new ValueGraph((ply) => this.#go(this.#tree.line()[ply]));
    p.caption = h("p", { class: "status" });
    p.players = h("div", { class: "row named-row" });
    p.overlay = choice(t("overlay.title"), OVERLAYS, "values", () => this.#redraw());
    p.list = new MoveList((node) => this.#go(node));
    p.opinions = new Opinions(this.#about, {
      onchange: () => this.#redraw(),
      onmove: (move) => this.#play(move),
      onpeek: (player, move) => this.#peek(move, player),
    });
    p.review = new Review({
      tree: () => this.#tree,
      player: () => p.opinions.first,
      go: (node) => this.#go(node),
      redraw: () => this.#redraw(),
      ended: () => this.#update(),
    });
    p.lens = this.#about.runs ? new Lens(() => this.#redraw()) : null;
    p.explorer = this.#about.library || this.#about.book ? new Explorer(this.#about, (move) => this.#play(move), (game) => this.#list(game)) : null;
    p.editor = new Editor({
      ondraw: () => this.#redraw(),
      ondone: (start) => this.#useEdited(start),
      oncancel: () => this.#edit(false),
    });
    p.editor.element.hidden = true;
    p.paste = new PasteDialog({
      setup: () => this.#setup(), boards: this.#about.boards,
      open: ({ black, white, date, event, result, ...game }) => this.open(game, { black, white, date, event, result }),
    });
    p.setup = this.#setupChoices();
    p.playOn = button(t("playon.button"), () => p.newGame.offer(this.#tree.setup, this.#tree.current));
    p.newGame = new NewGame(this.#about, recall("play", usualGame(this.#about)), (chosen) => this.#playOn(this.#tree.game(), chosen), t("playon.title"));
    p.cut = button(t("analyse.cut"), () => this.#cut(), { class: "quiet" });
    p.promote = button(t("analyse.promote"), () => this.#promote(), { class: "quiet" });
    this.element = h("div", { class: "analyse" }, this.#left(), this.#right(), p.paste.box, p.newGame.box);
  }

  #left() {
    const p = this.#parts;
    const step = (label, word, work) => button(word, work, { "aria-label": label, title: label });
    const bar = h("div", { class: "row bar" },
      step(t("analyse.first"), "«", () => this.#go(this.#tree.root)), step(t("analyse.back"), "‹", () => this.#step(-1)),
      step(t("analyse.forward"), "›", () => this.#step(1)), step(t("analyse.last"), "»", () => this.#go(this.#tree.line().at(-1))),
      p.overlay.element);
    return h("section", { class: "left" }, p.players, h("div", {}, h("div", { class: "stage" }, p.board.element), p.review.task),
      bar, p.caption, h("p", { class: "soft" }, VIEW), p.graph.element,
      h("p", { class: "keys" }, t("analyse.help")));
  }

  #right() {
    const p = this.#parts;
    const save = saveMenu(() => ({
      tree: this.#tree, names: this.#names, player: p.opinions.first, shape: this.#shape(),
    }));
    return h("section", { class: "right" },
      h("div", { class: "actions" }, button(t("analyse.paste"), () => p.paste.box.showModal(), { class: "main" }),
        p.playOn, button(t("analyse.edit"), () => this.#edit(!this.#isEditing)), button(t("link.copy"), () => this.#copyLink()), save),
      p.editor.element, p.opinions.element, p.review.element,
      h("section", { class: "card" }, h("header", {}, h("h2", {}, t("moves.title")), h("div", { class: "row" }, p.promote, p.cut)), p.list.element, p.setup),
      p.explorer?.element, p.lens?.element);
  }

  #setupChoices() {
    const p = this.#parts;
    const fresh = () => this.open({ board: p.shape.value, goal: p.goal.value, moves: "" }, {});
    p.shape = choice(t("menu.board"), this.#about.boards.map(({ name }) => [name, name]), "8x8", fresh);
    p.goal = choice(t("menu.goal"), goalOptions, "most", fresh);
    return h("details", {}, h("summary", { class: "soft" }, t("analyse.fresh")),
      h("div", { class: "fields" }, p.shape.element, p.goal.element, button(t("analyse.empty"), fresh)));
  }

  #setup() {
    const { board, goal } = this.#tree?.setup ?? { board: "8x8", goal: "most" };
    return { board, goal };
  }

  #shape() {
    return this.#about.boards.find(({ name }) => name === this.#tree.setup.board);
  }

  show() {
    this.#isShown = true;
    if (this.#tree) this.#update();
  }

  hide() {
    this.#isShown = false;
    this.#parts.opinions.end();
    this.#glance.end();
    this.#parts.explorer?.end();
  }

  /** In a game an opponent thinks, and a review would take its processors. @param {string} shown the view in front */
  makeWay(shown) {
    if (shown === "play") this.#parts.review.pause();
    else this.#parts.review.resume();
  }

  key(name) {
    const actions = {
      ArrowLeft: () => this.#step(-1), ArrowRight: () => this.#step(1),
      Home: () => this.#go(this.#tree.root), End: () => this.#go(this.#tree.line().at(-1)),
      m: () => this.#parts.review.next(), Escape: () => this.#parts.review.leave(),
    };
    if (this.#tree) actions[name]?.();
    return name in actions;
  }

  /**
   * Opens a game, and goes to its end.
   * @param {import("./api.js").Game} game @param {Names} [names]
   */
  async open(game, names = {}) {
    try {
      await this.#load(game, names);
    } catch (error) {
      complain(error);
    }
  }

  /** Opens what a link holds. @param {string} query the part of the address behind `#analyse?` */
  async openLink(query) {
    try {
      const { game, ply } = readLink(query, this.#about.boards);
      const refuse = (error) => { throw error.status ? new Error(t("link.refused", { why: error.message })) : error; };
      await this.#load(game, {}, ply).catch(refuse);
    } catch (error) {
      complain(error);
    }
  }

  async #load({ board, goal, start, moves }, names, ply) {
    const signal = this.#loads.begin();
    try {
      const tree = await Tree.load({ board, goal, ...(start ? { start } : {}), moves }, signal);
      const line = tree.line();
      tree.current = ply === undefined ? line.at(-1) : line[ply];
      if (!tree.current) throw new Error(t("link.cut"));
      this.#take(tree, names);
    } catch (error) {
      if (!this.#tree && !signal.aborted) this.#recall();
      throw error;
    }
    // A finished game is most likely opened to see its mistakes.
    if (this.#tree.line().at(-1).over) this.#parts.review.start();
  }

  /** Reads files or a text that came from anywhere on the page. @param {(File|string)[]} bodies */
  read(bodies) {
    this.#parts.paste.take(bodies);
  }

  /** Opens what the last visit has left, and goes on with its review. */
  async #recall() {
    const signal = this.#loads.begin();
    const kept = await recallAnalysis(this.#about, signal);
    if (!kept) return;
    this.#take(kept.tree, kept.names, kept.opinions);
    if (kept.isReviewing) this.#parts.review.start();
  }

  /** Shows a tree in the place of the one before. */
  #take(tree, names, opinions = []) {
    const p = this.#parts;
    p.review.reset();
    p.review.leave();
    this.#tree = tree;
    this.#names = names;
    p.shape.value = tree.setup.board;
    p.goal.value = tree.setup.goal;
    p.opinions.setSetup(tree.setup, opinions);
    p.players.replaceChildren(...playersRow(names));
    this.#edit(false);
    this.#update();
  }

  #go(node) {
    if (!node) return;
    this.#tree.current = node;
    this.#update();
  }

  #step(by) {
    const { current } = this.#tree;
    const next = by < 0 ? current.parent : current.children[0];
    if (!next) return;
    this.#tree.current = next;
    this.#update(by > 0);
    announce(plyWord(next.ply));
  }

  #square(square) {
    if (!this.#tree) return;
    if (this.#isEditing) this.#parts.editor.paint(square);
    else if (this.#parts.review.isPuzzle) this.#parts.review.attempt(square);
    else this.#play(square);
  }

  async #play(square) {
    const from = this.#tree.current;
    if (!from.ply.legal.includes(square)) return;
    try {
      const next = await this.#tree.play(square, from);
      if (this.#tree.current !== from) return;
      this.#tree.current = next;
      this.#update(true);
      announce(plyWord(next.ply));
    } catch (error) {
      complain(error);
    }
  }

  /** The first node of the branch in which the current node is, or `null` on the main line. */
  #branch() {
    return this.#tree.path().find((node) => node.parent && node.parent.children[0] !== node) ?? null;
  }

  #cut() {
    const branch = this.#branch();
    if (branch) this.#tree.remove(branch);
    this.#update();
  }

  #promote() {
    this.#tree.promote(this.#tree.current);
    this.#update();
  }

  #edit(isOn) {
    const p = this.#parts;
    this.#isEditing = isOn;
    p.editor.element.hidden = !isOn;
    p.board.onpaint = isOn ? (square) => p.editor.paint(square) : null;
    if (isOn) p.editor.begin(this.#shape(), this.#tree.current.ply);
    else if (this.#tree) this.#update();
  }

  async #useEdited(start) {
    const game = { ...this.#setup(), start, moves: "" };
    try {
      // Asked before the edited position is left, so a wrong one can be mended.
      await post("/api/line", game);
      await this.open(game, {});
    } catch (error) {
      complain(error);
    }
  }

  /** After the position has changed: asks what must be asked, and draws all. */
  #update(animate = false) {
    const { current } = this.#tree;
    const p = this.#parts;
    p.board.setShape(this.#shape());
    const position = { node: current, game: this.#tree.game() };
    if (this.#isShown) {
      const isHidden = p.review.isPuzzle;
      const pause = isHidden ? t("analyse.hidden") : p.review.isRunning ? t("analyse.later") : "";
      p.opinions.show(isHidden ? { ...position, node: hidden(current) } : position, pause);
      p.explorer?.show(position);
      p.lens?.show(position);
    }
    this.#redraw(animate);
  }

  /** Gets what some overlays need and the hints lack. */
  #look() {
    if (!["policy", "owner"].includes(this.#parts.overlay.value)) return;
    this.#glance.ask(this.#tree.current, this.#tree.game(), this.#parts.opinions.players().find((player) => player.net));
  }

  async #copyLink() {
    try {
      await putOnClipboard(linkOf(this.#tree));
      notice(t("link.copied"));
    } catch (error) {
      complain(error);
    }
  }

  /** Draws everything from what is known now. */
  #redraw(animate = false) {
    if (!this.#tree) return;
    const p = this.#parts;
    if (this.#isShown) this.#look();
    this.#draw(animate);
    const line = this.#tree.line();
    p.graph.show(line, p.opinions.first, this.#tree.current.depth);
    p.list.show(this.#tree, p.opinions.first);
    p.review.draw();
    if (!p.review.isPuzzle) p.opinions.refresh();
    const branch = this.#branch();
    p.cut.hidden = !branch;
    p.promote.hidden = !branch;
    p.playOn.disabled = this.#tree.current.over;
    p.caption.textContent = caption(this.#tree, this.#names, p.review.isPuzzle ? null : p.opinions.first);
    this.#keeper.keep();
  }

  #draw(animate) {
    const p = this.#parts;
    if (this.#isEditing) {
      p.board.show(p.editor.view());
      return;
    }
    const { ply, over } = this.#tree.current;
    p.peek.refresh();
    p.board.show({
      discs: ply.discs, side: ply.side, last: ply.move, flipped: ply.flipped, animate,
      legal: over ? [] : ply.legal, ...(p.review.isPuzzle ? {} : this.#overlay()),
    });
  }

  /** Shows the line that a player expects after a move. @param {?string} move @param {string} [player] */
  #peek(move, player = this.#parts.opinions.first) {
    this.#parts.peek.point(move && (() => {
      const isHidden = this.#isEditing || this.#parts.review.isPuzzle;
      const hint = !isHidden && this.#tree?.current.advice.get(player)?.hints.find((hint) => hint.move === move);
      return hint ? { game: this.#tree.game(), line: hint.line } : null;
    }));
  }

  /** What lies over the squares. @returns {{hints?: Map, shades?: Map}} */
  #overlay() {
    const p = this.#parts;
    const { current } = this.#tree;
    const policy = p.lens?.policy ?? null;
    if (policy) return { shades: shares(policy) };
    return overlay(p.overlay.value, current.advice.get(p.opinions.first)?.hints ?? [], current.ply.side, this.#glance.of(current));
  }
}

/** The node as the opinions may show it while its answers are hidden. */
function hidden(node) {
  return { ...node, advice: new Map() };
}
