// The list of hints beside a game, with a sentence on how to read it.

import { announce, h } from "./dom.js";
import { VIEW, isThin, ruleWord, sourceWord, valueWord } from "./words.js";

const SHOWN = 5;

export class AdviceList {
  #list = h("ol", { class: "advice" });
  #legend = h("p", { class: "soft" });
  element = h("div", { class: "groups", hidden: true }, this.#list, this.#legend);

  hide() {
    this.element.hidden = true;
  }

  /** @param {import("./api.js").Advice} advice @param {import("./api.js").Side} side the side to move */
  show({ hints, done }, side) {
    const word = (hint) => valueWord(hint, side, isThin(hint, hints));
    this.element.hidden = false;
    this.#list.replaceChildren(...hints.slice(0, SHOWN).map((hint) => h("li", {},
      h("b", {}, hint.move), h("span", { class: "value" }, word(hint)), h("span", { class: "source" }, sourceWord(hint)))));
    this.#legend.textContent = `${VIEW} ${ruleWord(hints)}`;
    if (done && hints[0]) announce(`Best: ${hints[0].move}, ${word(hints[0])} for black`);
  }
}
