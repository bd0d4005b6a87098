// Hints beside a game: the best moves on the board and in a list, for each turn of a person.

import { AdviceList } from "./advice.js";
import { Latest, stream } from "./api.js";
import { button, complain } from "./dom.js";
import { opinionOf } from "./menu.js";
import { Peek } from "./peek.js";
import { t } from "./texts.js";
import { ranked } from "./words.js";

/** The longest search, in seconds. */
const SECONDS = 20;

export class PlayHints {
  #about;
  #ondraw;
  #peek;
  #isWanted = false;
  #requests = new Latest();
  /** What is asked about. @type {?{tree: import("./tree.js").Tree, node: import("./tree.js").Node}} */
  #asked = null;
  /** @type {?import("./api.js").Advice} */
  #advice = null;
  #list = new AdviceList((move) => this.#point(move));
  button = button(t("play.hint"), () => this.toggle(), { "aria-keyshortcuts": "h", "aria-pressed": "false" });

  /** @param {import("./main.js").About} about @param {import("./board.js").Board} board @param {() => void} ondraw */
  constructor(about, board, ondraw) {
    this.#about = about;
    this.#ondraw = ondraw;
    this.#peek = new Peek(board);
    board.onpoint = (square) => this.#point(square);
  }

  get list() {
    return this.#list.element;
  }

  /** The hints for a position, as far as they are known. @param {import("./tree.js").Node} node */
  of(node) {
    return this.#asked?.node === node ? this.#advice?.hints ?? [] : [];
  }

  toggle() {
    this.#isWanted = !this.#isWanted;
    this.button.setAttribute("aria-pressed", String(this.#isWanted));
    this.#ondraw();
  }

  end() {
    this.#requests.end();
  }

  /** Asks about the current position of a game. @param {?import("./tree.js").Tree} tree `null`: nobody is to be helped */
  async ask(tree) {
    const signal = this.#requests.begin();
    this.#advice = null;
    this.#asked = this.#isWanted && tree ? { tree, node: tree.current } : null;
    this.#list.hide();
    this.#peek.refresh();
    if (!this.#asked) return;
    const { node } = this.#asked;
    const question = { ...tree.game(), player: opinionOf(this.#about, tree.setup).id, seconds: SECONDS };
    try {
      await stream("/api/hints", question, signal, (kind, news) => {
        if (kind !== "hints" || signal.aborted) return;
        this.#advice = ranked(news);
        this.#ondraw(true);
        this.#list.show(this.#advice, node.ply.side);
        this.#peek.refresh();
      });
    } catch (error) {
      complain(error);
    }
  }

  #point(move) {
    this.#peek.point(move && (() => {
      const hint = this.#asked && this.#advice?.hints.find((hint) => hint.move === move);
      return hint ? { game: this.#asked.tree.game(this.#asked.node), line: hint.line } : null;
    }));
  }
}
