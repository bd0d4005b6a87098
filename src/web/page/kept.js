// Keeps an analysis for a later visit: the game with its branches, and what is known about its positions.

import { complain } from "./dom.js";
import { opinionsOf } from "./menu.js";
import { keep, recall } from "./storage.js";
import { Tree } from "./tree.js";

/** The advice is kept at most this often, in milliseconds. */
const KEEPING = 1000;

/**
 * What the last visit has left, with its tree; `null` if the signal has aborted or the server gives no game.
 * @param {import("./main.js").About} about @param {AbortSignal} signal
 */
export async function recallAnalysis(about, signal) {
  const kept = recall("analyse", { setup: { board: "8x8", goal: "most" }, lines: [""], at: "", names: {}, opinions: [] });
  try {
    return { ...kept, tree: await Tree.recall(kept, recall("advice", { known: [] }), opinionsOf(about, kept.setup), signal) };
  } catch {
    if (signal.aborted) return null;
    // Kept by another version of the program.
    const tree = await Tree.load({ board: "8x8", goal: "most", moves: "" }, signal).catch(complain);
    return tree ? { ...kept, tree } : null;
  }
}

export class Keeper {
  #contents;
  #later = 0;

  /** @param {() => {tree: ?Tree, players: import("./api.js").Player[], more: Object}} contents what is shown */
  constructor(contents) {
    this.#contents = contents;
    addEventListener("pagehide", () => this.#keepAdvice());
  }

  /** Keeps the game. The advice is long, so it follows a little later. */
  keep() {
    const { tree, more } = this.#contents();
    keep("analyse", { ...tree.kept(), ...more });
    this.#later ||= setTimeout(() => this.#keepAdvice(), KEEPING);
  }

  #keepAdvice() {
    clearTimeout(this.#later);
    this.#later = 0;
    const { tree, players } = this.#contents();
    if (tree) keep("advice", tree.keptAdvice(players));
  }
}
