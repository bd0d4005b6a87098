// The list of hints beside a game, with a sentence on how to read it.

import { announce, h } from "./dom.js";
import { Rows } from "./peek.js";
import { t } from "./texts.js";
import { VIEW, isThin, ruleWord, sourceWord, valueWord } from "./words.js";

const SHOWN = 5;

export class AdviceList {
  #rows;
  #legend = h("p", { class: "soft" });
  element;

  /** @param {(move: ?string) => void} onpeek told which hint is pointed at */
  constructor(onpeek) {
    this.#rows = new Rows(h("ol", { class: "advice" }), onpeek);
    this.element = h("div", { class: "groups", hidden: true }, this.#rows.element, this.#legend);
  }

  hide() {
    this.element.hidden = true;
  }

  /** @param {import("./api.js").Advice} advice @param {import("./api.js").Side} side the side to move */
  show({ hints, done }, side) {
    const word = (hint) => valueWord(hint, side, isThin(hint, hints));
    this.element.hidden = false;
    this.#rows.draw(hints.slice(0, SHOWN).map((hint) => h("li", { tabindex: 0, "data-move": hint.move, title: hint.line.join(" ") },
      h("b", {}, hint.move), h("span", { class: "value" }, word(hint)), h("span", { class: "source" }, sourceWord(hint)))));
    this.#legend.textContent = `${VIEW} ${ruleWord(hints)}`;
    if (done && hints[0]) announce(t("advice.best", { move: hints[0].move, value: word(hints[0]) }));
  }
}
