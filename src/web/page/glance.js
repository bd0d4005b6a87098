// The net's view of a position without search: its policy, and who will own each square.

import { Latest, post } from "./api.js";
import { complain } from "./dom.js";

export class Glance {
  #onfound;
  #requests = new Latest();
  /** The position that the net is asked about. */
  #node = null;
  #found = null;

  /** @param {() => void} onfound */
  constructor(onfound) {
    this.#onfound = onfound;
  }

  /** What is known about a position, or `null`. @param {import("./tree.js").Node} node */
  of(node) {
    return this.#node === node ? this.#found : null;
  }

  /** Asks a net about a game's last position, unless that was done. @param {import("./api.js").Player} [net] */
  async ask(node, game, net) {
    if (this.#node === node) return;
    const signal = this.#requests.begin();
    this.#node = node;
    this.#found = null;
    if (node.over || !net) return;
    try {
      const found = await post("/api/predict", { ...game, player: net.id, owner: true }, signal);
      if (signal.aborted) return;
      this.#found = found;
      this.#onfound();
    } catch (error) {
      complain(error);
    }
  }

  /** Forgets everything. */
  end() {
    this.#requests.end();
    this.#node = null;
    this.#found = null;
  }
}
