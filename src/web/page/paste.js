// Games in: paste a text, or open files. WTHOR keeps its names in files of their own, which are sent
// with each file of games.

import { send } from "./api.js";
import { button, dialog, h } from "./dom.js";
import { GameList } from "./gamelist.js";
import { t } from "./texts.js";

/** The server takes no longer body. */
const LARGEST = 4 << 20;
/** WTHOR's lists of names by their endings, as the server calls them. */
const LISTS = [[/\.jou$/i, "players", "WTHOR.JOU"], [/\.trn$/i, "events", "WTHOR.TRN"]];
const GAMES = /\.wtb$/i;

const listOf = (body) => LISTS.find(([ending]) => ending.test(body.name ?? ""))?.[1];

export class PasteDialog {
  #host;
  /** The latest lists of names. @type {{players?: File, events?: File}} */
  #lists = {};
  /** The files of WTHOR that are shown: they are read again when names come. @type {File[]} */
  #archive = [];
  /** The number of the latest reading. */
  #reading = 0;
  #text = h("textarea", {
    spellcheck: "false", "aria-label": t("paste.text"), id: "paste-text",
    placeholder: t("paste.example"),
  });
  #error = h("p", { class: "error", role: "alert" });
  #part = h("div", { class: "row" });
  #note = h("p", { class: "soft", role: "status" });
  #list;
  /** @type {HTMLDialogElement} */
  box;

  /**
   * @param {{setup: () => {board: string, goal: string}, open: (game: any) => void,
   *   boards: import("./api.js").BoardShape[]}} host what to assume where a text does not say it, and who
   *   opens a game
   */
  constructor(host) {
    this.#host = host;
    this.#list = new GameList(host.boards, (game) => this.#open(game));
    const file = h("input", {
      type: "file", multiple: true, "aria-label": t("paste.files"),
      onchange: () => { if (file.files.length) this.take([...file.files]); },
    });
    this.box = dialog(t("paste.title"), h("div", { class: "fields" }, h("form", {
      class: "fields", onsubmit: (event) => { event.preventDefault(); this.take([this.#text.value]); },
    }, this.#text, h("div", { class: "row" }, h("button", { class: "main" }, t("paste.read")), file)),
    this.#error, this.#part, this.#note, this.#list.element));
  }

  /**
   * Reads texts or files. The dialog opens if there is something to choose, or an error.
   * @param {(File|string)[]} bodies
   */
  async take(bodies) {
    const reading = this.#reading += 1;
    const lists = bodies.filter(listOf);
    for (const list of lists) this.#lists[listOf(list)] = list;
    const games = bodies.filter((body) => !listOf(body));
    if (typeof games[0] === "string") this.#text.value = games[0];
    this.#show("", "");
    await this.#read(games.length ? games : this.#archive, reading, lists.length > 0);
    if (reading === this.#reading && !this.box.open && (this.#error.textContent || !this.#list.element.hidden)) this.box.showModal();
  }

  async #read(bodies, reading, hasLists) {
    if (!bodies.length) {
      this.#show(hasLists ? t("paste.lists") : t("paste.nothing"), "");
      return;
    }
    const found = { games: [], leftOut: 0, formats: new Set(), faults: [] };
    for (const [index, body] of bodies.entries()) {
      if (bodies.length > 1) this.#show("", t("paste.reading", { number: index + 1, all: bodies.length }));
      await this.#readOne(body, found);
      if (reading !== this.#reading) return;
    }
    this.#archive = bodies.filter((body) => GAMES.test(body.name ?? ""));
    this.#tell(found, bodies);
  }

  /** Adds the games of a text or file, or why there are none. */
  async #readOne(body, found) {
    try {
      const { games, left_out: left, format } = await this.#ask(body);
      // Not all at once: a call does not take so many arguments.
      for (const game of games) found.games.push(game);
      found.leftOut += left;
      found.formats.add(format);
    } catch (problem) {
      const { field, game } = problem.answer ?? {};
      const list = this.#lists[field];
      found.faults.push({ text: `${list?.name ?? body.name ?? ""}: ${problem.message}`.replace(/^: /, ""), game });
      if (!list) return;
      // The games can be read without these names.
      delete this.#lists[field];
      await this.#readOne(body, found);
    }
  }

  #ask(body) {
    const { board, goal } = this.#host.setup();
    const { players, events } = GAMES.test(body.name ?? "") ? this.#lists : {};
    const whole = players || events ? new Blob([players, events, body].filter(Boolean)) : body;
    if (whole.size > LARGEST) throw new Error(t("paste.large"));
    return send(`/api/paste?board=${board}&goal=${goal}&players=${players?.size ?? 0}&events=${events?.size ?? 0}`, whole);
  }

  #tell({ games, leftOut, formats, faults }, bodies) {
    const [fault] = faults;
    if (games.length === 1 && !leftOut && !fault && bodies.length === 1) {
      this.#list.show([]);
      this.#open(games[0]);
      return;
    }
    const problem = faults.length > 1 ? t("paste.more", { problem: fault.text, count: faults.length - 1 }) : fault?.text ?? "";
    const missing = LISTS.filter(([, name]) => !this.#lists[name]).map(([, , file]) => file);
    const files = missing.length > 1 ? t("paste.and", { first: missing[0], second: missing[1] }) : missing[0];
    const wanted = formats.has("wthor") && files && t("paste.names", { files });
    const left = leftOut > 0 && t("paste.left", { count: leftOut });
    const read = [t("paste.formats", { formats: [...formats].join(", ") }), left, wanted].filter(Boolean).join(" ");
    this.#show(problem, games.length ? read : "");
    this.#list.show(games);
    if (bodies.length === 1 && fault?.game) this.#offer(fault.game);
  }

  /** Offers the part of a game before its wrong move. */
  #offer(game) {
    const count = game.moves.match(/[a-z]\d+/g).length;
    this.#part.replaceChildren(button(t("paste.first", { count }), () => this.#open(game), { class: "main" }));
  }

  #show(error, note) {
    this.#error.textContent = error;
    this.#note.textContent = note;
    this.#part.replaceChildren();
  }

  #open(game) {
    this.box.close();
    this.#host.open(game);
  }
}
