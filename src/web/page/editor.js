// Sets up a position by hand: a brush puts black, white or nothing on each square that it touches.

import { button, choice, h } from "./dom.js";
import { t } from "./texts.js";

const BRUSHES = [["X", t("side.black")], ["O", t("side.white")], ["-", t("editor.empty")]];

export class Editor {
  #discs = [];
  #names = [];
  #brush = "X";
  #brushes;
  #side;
  #ondraw;
  element;

  /** @param {{ondraw: () => void, ondone: (start: string) => void, oncancel: () => void}} events */
  constructor({ ondraw, ondone, oncancel }) {
    this.#ondraw = ondraw;
    this.#side = choice(t("editor.turn"), [["black", t("side.black")], ["white", t("side.white")]], "black", ondraw);
    this.#brushes = BRUSHES.map(([disc, word]) => button(word, () => this.#take(disc), { "data-brush": disc }));
    this.element = h("section", { class: "card" }, h("h2", {}, t("editor.title")),
      h("p", { class: "soft" }, t("editor.help")),
      h("div", { class: "row", role: "group", "aria-label": t("editor.brush") }, ...this.#brushes),
      h("div", { class: "row" }, this.#side.element,
        button(t("editor.clear"), () => this.#set(this.#discs.map(() => "-")))),
      h("div", { class: "actions" },
        button(t("editor.use"), () => ondone(this.#start()), { class: "main" }), button(t("editor.cancel"), oncancel)));
    this.#take(this.#brush);
  }

  /** @param {import("./api.js").BoardShape} shape @param {import("./api.js").Ply} ply the position to begin with */
  begin(shape, ply) {
    this.#names = shape.squares.map(([name]) => name);
    this.#side.value = ply.side;
    this.#set([...ply.discs]);
  }

  /** Puts the brush on a square. */
  paint(square) {
    const index = this.#names.indexOf(square);
    if (this.#discs[index] === this.#brush) return;
    this.#set(this.#discs.map((disc, at) => (at === index ? this.#brush : disc)));
  }

  /** What the board shows meanwhile. */
  view() {
    return { discs: this.#discs.join(""), side: this.#side.value, legal: this.#names };
  }

  #take(disc) {
    this.#brush = disc;
    for (const brush of this.#brushes) brush.setAttribute("aria-pressed", String(brush.dataset.brush === disc));
  }

  #set(discs) {
    this.#discs = discs;
    this.#ondraw();
  }

  #start() {
    return `${this.#discs.join("")} ${this.#side.value === "black" ? "X" : "O"};`;
  }
}
