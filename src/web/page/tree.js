// A game with its branches. Every node is a position; the first child is the main line.

import { post } from "./api.js";

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
