// The newest net of a run as an opponent.

import { get } from "./api.js";
import { button, complain, h, notice } from "./dom.js";
import { t } from "./texts.js";

export class RunNet {
  #onplay;
  /** @type {?import("./watch.js").Run} */
  #run = null;
  element = h("div", { class: "actions", hidden: true }, button(t("runnet.play"), () => this.#play("black")),
    button(t("runnet.match"), () => this.#play("none")));

  /** @param {(player: import("./api.js").Player, run: import("./watch.js").Run, side: string) => void} onplay */
  constructor(onplay) {
    this.#onplay = onplay;
  }

  /** @param {import("./watch.js").Run} run */
  show(run) {
    this.#run = run;
    // Other methods than nets have no checkpoints that play here, and stages.
    this.element.hidden = !run.board || Boolean(run.stages);
  }

  async #play(side) {
    const run = this.#run;
    try {
      const { checkpoints } = await get(`/api/runs/${encodeURIComponent(run.id)}/checkpoints`);
      const newest = checkpoints.at(-1);
      if (!newest) notice(t("runnet.none"));
      else this.#onplay({ id: newest.player, word: t("runnet.word", { run: run.name, step: newest.step }), board: run.board, goal: run.goal }, run, side);
    } catch (error) {
      complain(error);
    }
  }
}
