// Sets up a position by hand. A click changes a square: empty, black, white.

import { button, choice, h } from "./dom.js";

const NEXT = { "-": "X", X: "O", O: "-" };

export class Editor {
  #discs = [];
  #names = [];
  #side;
  #ondraw;
  element;

  /** @param {{ondraw: () => void, ondone: (start: string) => void, oncancel: () => void}} events */
  constructor({ ondraw, ondone, oncancel }) {
    this.#ondraw = ondraw;
    this.#side = choice("To move", [["black", "Black"], ["white", "White"]], "black", ondraw);
    this.element = h("section", { class: "card" }, h("h2", {}, "Edit the board"),
      h("p", { class: "soft" }, "A click on a square changes it: empty, black, white."),
      h("div", { class: "row" }, this.#side.element,
        button("Clear", () => this.#set(this.#discs.map(() => "-")))),
      h("div", { class: "actions" },
        button("Use this position", () => ondone(this.#start()), { class: "main" }), button("Cancel", oncancel)));
  }

  /** @param {import("./api.js").BoardShape} shape @param {import("./api.js").Ply} ply the position to begin with */
  begin(shape, ply) {
    this.#names = shape.squares.map(([name]) => name);
    this.#side.value = ply.side;
    this.#set([...ply.discs]);
  }

  /** Changes the disc of a square. */
  change(square) {
    const index = this.#names.indexOf(square);
    this.#set(this.#discs.with ? this.#discs.with(index, NEXT[this.#discs[index]])
      : this.#discs.map((disc, at) => (at === index ? NEXT[disc] : disc)));
  }

  /** What the board shows meanwhile. */
  view() {
    return { discs: this.#discs.join(""), side: this.#side.value, legal: this.#names };
  }

  #set(discs) {
    this.#discs = discs;
    this.#ondraw();
  }

  #start() {
    return `${this.#discs.join("")} ${this.#side.value === "black" ? "X" : "O"};`;
  }
}
