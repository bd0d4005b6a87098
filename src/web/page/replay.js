// Replays the newest game of a run on a small board.

import { get } from "./api.js";
import { Board } from "./board.js";
import { button, h } from "./dom.js";
import { t } from "./texts.js";
import { resultWord, sideWord } from "./words.js";

const STEP = 800;

export class Replay {
  #about;
  #board = new Board(undefined, t("replay.title"));
  #word = h("p", {});
  #slider = h("input", { type: "range", min: 0, max: 0, "aria-label": t("replay.move"), oninput: () => this.#to(Number(this.#slider.value)) });
  #toggle = button(t("replay.play"), () => this.#play());
  /** @type {?import("./api.js").Line} */
  #line = null;
  #run = "";
  #at = 0;
  #timer = 0;
  #box;
  #none = h("p", { class: "soft" }, t("replay.none"));
  element;

  constructor(about, analyse) {
    this.#about = about;
    const open = button(t("replay.analyse"), () => {
      const { board, goal, start, moves } = this.#line;
      analyse({ board, goal, start, moves }, {});
    });
    this.#box = h("div", { class: "replay" }, this.#board.element,
      h("div", { class: "fields" }, this.#word, this.#slider, h("div", { class: "actions" }, this.#toggle, open)));
    this.element = h("section", { class: "card", hidden: true }, h("h2", {}, t("replay.title")), this.#box, this.#none);
  }

  /** Gets the newest game of a run. A game that is being watched is left alone until its end. */
  async follow(run) {
    const isSame = run === this.#run;
    if (isSame && this.#timer && this.#at < this.#line.plies.length - 1) return;
    // A run has no games at first, and may keep none.
    const line = await get(`/api/runs/${encodeURIComponent(run)}/game`);
    if (!line) {
      if (!isSame) this.#show(null);
      this.#run = run;
      return;
    }
    if (isSame && line.number === this.#line?.number) return;
    this.stop();
    this.#run = run;
    this.#show(line);
    this.#board.setShape(this.#about.boards.find(({ name }) => name === line.board));
    this.#slider.max = line.plies.length - 1;
    this.#to(isSame ? 0 : line.plies.length - 1);
    if (isSame) this.#play();
  }

  /** Shows a game, or that there is none. */
  #show(line) {
    this.#line = line;
    this.element.hidden = false;
    this.#box.hidden = !line;
    this.#none.hidden = Boolean(line);
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#toggle.textContent = t("replay.play");
  }

  #play() {
    if (this.#timer) {
      this.stop();
      return;
    }
    if (this.#at >= this.#line.plies.length - 1) this.#to(0);
    this.#toggle.textContent = t("replay.pause");
    this.#timer = setInterval(() => {
      if (this.#at >= this.#line.plies.length - 1) this.stop();
      else this.#to(this.#at + 1, true);
    }, STEP);
  }

  #to(at, animate = false) {
    this.#at = at;
    this.#slider.value = at;
    const ply = this.#line.plies[at];
    this.#board.show({ discs: ply.discs, last: ply.move, flipped: ply.flipped, side: ply.side, animate });
    const isEnd = at === this.#line.plies.length - 1 && this.#line.over;
    const what = ply.move ? `${sideWord(ply.mover)} ${ply.move}` : t("replay.start");
    this.#word.textContent = t("replay.at", {
      number: this.#line.number, move: at, all: this.#line.plies.length - 1,
      what: isEnd ? resultWord(this.#line) : `${what}, ${ply.black}–${ply.white}`,
    });
  }
}
