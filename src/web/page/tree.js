// A game with its branches. Every node is a position; the first child is the main line.
//
// A tree can be kept for a later visit: the moves of its lines, and what is known about its positions.

import { post } from "./api.js";

/** The most lines that are kept, since each costs a request. */
const MOST_LINES = 40;
/** The most hints of a position that are kept, the best ones: browsers keep only some megabytes. */
const MOST_HINTS = 12;

/**
 * `known` has the moves to a position, a player, its specification and its advice.
 * @typedef {{setup: Object, lines: string[], at: string}} Kept
 * @typedef {{setup: Object, known: [string, string, string, import("./api.js").Advice][]}} KeptAdvice
 */

/**
 * @typedef {Object} Node
 * @property {?string} move the move that led here; `null` at the start
 * @property {?Node} parent
 * @property {Node[]} children
 * @property {number} depth plies since the start
 * @property {import("./api.js").Ply} ply
 * @property {boolean} over
 * @property {?number} score black's final score, if the game is over
 * @property {Map<string, import("./api.js").Advice>} advice by player
 */

export class Tree {
  /** @type {Node} */
  root;
  /** @type {Node} */
  current;
  /** What the server calls the game, without its moves. */
  setup;

  /** @param {import("./api.js").Line} line */
  constructor(line) {
    this.setup = { board: line.board, goal: line.goal, ...(line.start ? { start: line.start } : {}) };
    this.root = node(null, null, line.plies[0]);
    this.current = this.root;
    let last = this.root;
    for (const ply of line.plies.slice(1)) last = this.#child(last, ply);
    finish(last, line);
  }

  /** Asks the server for a game. @param {import("./api.js").Game} game */
  static async load(game, signal) {
    return new Tree(await post("/api/line", game, signal));
  }

  /**
   * The tree that was kept, with its branches and with what was known about it.
   * @param {Kept} kept @param {KeptAdvice} advice @param {import("./api.js").Player[]} players
   */
  static async recall(kept, advice, players, signal) {
    const [main, ...branches] = kept.lines;
    const tree = await Tree.load({ ...kept.setup, moves: main }, signal);
    for (const moves of branches) tree.#graft(await post("/api/line", { ...kept.setup, moves }, signal));
    const nodes = new Map(tree.#nodes().map((node) => [tree.game(node).moves, node]));
    tree.current = nodes.get(kept.at) ?? tree.line().at(-1);
    if (JSON.stringify(advice.setup) !== JSON.stringify(kept.setup)) return tree;
    for (const [moves, player, about, found] of advice.known) {
      // A player of the same name may be another one by now.
      if (players.some(({ id, about: now }) => id === player && now === about)) nodes.get(moves)?.advice.set(player, found);
    }
    return tree;
  }

  /** The lines, for {@link Tree.recall}. @returns {Kept} */
  kept() {
    const ends = this.#nodes().filter(({ children }) => !children.length).slice(0, MOST_LINES);
    return { setup: this.setup, lines: ends.map((end) => this.game(end).moves), at: this.game().moves };
  }

  /** What these players have found. @param {import("./api.js").Player[]} players @returns {KeptAdvice} */
  keptAdvice(players) {
    const known = this.#nodes().flatMap((node) => players.flatMap(({ id, about }) => {
      const found = node.advice.get(id);
      return found?.done ? [[this.game(node).moves, id, about, { ...found, hints: found.hints.slice(0, MOST_HINTS) }]] : [];
    }));
    return { setup: this.setup, known };
  }

  /** All nodes, those of a main line before those of its branches. @returns {Node[]} */
  #nodes(from = this.root) {
    return [from, ...from.children.flatMap((child) => this.#nodes(child))];
  }

  /** Adds a line from the start. */
  #graft(line) {
    let last = this.root;
    for (const ply of line.plies.slice(1)) {
      last = last.children.find(({ move }) => move === ply.move) ?? this.#child(last, ply);
    }
    finish(last, line);
  }

  #child(parent, ply) {
    const child = node(ply.move, parent, ply);
    parent.children.push(child);
    return child;
  }

  /** The nodes from the start to a node. @returns {Node[]} */
  path(to = this.current) {
    const found = [];
    for (let at = to; at; at = at.parent) found.unshift(at);
    return found;
  }

  /** The nodes from the start through the current node to the end of its line. @returns {Node[]} */
  line() {
    const found = this.path();
    for (let at = this.current.children[0]; at; at = at.children[0]) found.push(at);
    return found;
  }

  /** The main line, whatever node is current. @returns {Node[]} */
  mainLine() {
    const found = [];
    for (let at = this.root; at; at = at.children[0]) found.push(at);
    return found;
  }

  /** The game up to a node, as the server takes it. @returns {import("./api.js").Game} */
  game(to = this.current) {
    return { ...this.setup, moves: this.path(to).map(({ move }) => move ?? "").join("") };
  }

  /** Makes a move at a node, known or new. The current node does not change. @returns {Promise<Node>} */
  async play(move, from = this.current, signal) {
    const known = from.children.find((child) => child.move === move);
    if (known) return known;
    const game = this.game(from);
    const line = await post("/api/line", { ...game, moves: game.moves + move }, signal);
    // The same move may have been asked for twice.
    const child = from.children.find((child) => child.move === move) ?? this.#child(from, line.plies.at(-1));
    finish(child, line);
    return child;
  }

  /** A node for a move that does not become part of the tree. @returns {Promise<Node>} */
  async probe(move, from) {
    const game = this.game(from);
    const line = await post("/api/line", { ...game, moves: game.moves + move });
    const found = node(move, from, line.plies.at(-1));
    finish(found, line);
    return found;
  }

  /** Cuts off a branch. The current node moves out of it. */
  remove(branch) {
    if (!branch.parent) return;
    if (this.path().includes(branch)) this.current = branch.parent;
    branch.parent.children = branch.parent.children.filter((child) => child !== branch);
  }

  /** Makes the line through a node the main line. */
  promote(to) {
    for (let at = to; at.parent; at = at.parent) {
      const { children } = at.parent;
      children.splice(children.indexOf(at), 1);
      children.unshift(at);
    }
  }
}

function node(move, parent, ply) {
  const depth = parent ? parent.depth + 1 : 0;
  return { move, parent, children: [], depth, ply, over: false, score: null, advice: new Map() };
}

function finish(last, line) {
  last.over = line.over;
  last.score = line.score ?? null;
}
