// Lessons: mistakes of one's own games, and endings with one winning move, asked until they are right
// twice. The server keeps them in a file of the user.

import { Latest, get, post, remove, stream } from "./api.js";
import { Board } from "./board.js";
import { announce, button, choice, complain, h, notice } from "./dom.js";
import { PERSON, listGames, namesOf } from "./library.js";
import { lossOf } from "./losses.js";
import { keep, recall } from "./storage.js";
import { t } from "./texts.js";
import { Tree } from "./tree.js";
import { signed, sideWord } from "./words.js";

/** Empty squares of puzzles. */
const EMPTIES = [6, 8, 10, 12, 14, 16];
/** The newest games of a name that are looked at. */
const GAMES = 10;
/** Who judges games: quick, and exact in endings. */
const JUDGE = "alphabeta10";
/** A move that loses at most so many discs is right, if another one is not proven to be better. */
const RIGHT = 0.5;

/** @typedef {{id: number, kind: string, board: string, goal: string, start?: string, moves: string,
 *   values: {move: string, score: number, exact: boolean}[], played?: string, source: string,
 *   found?: [number, number], right: number, due: boolean, learnt: boolean}} Lesson */

export class LessonsView {
  #about;
  #analyse;
  /** @type {Lesson[]} */
  #all = [];
  /** The lesson that is asked, with its position. @type {?{lesson: Lesson, tree: Tree, isOpen: boolean}} */
  #asked = null;
  #work = new Latest();
  #parts = {};
  element;

  /** @param {import("./main.js").About} about @param {(game, names) => void} analyse */
  constructor(about, analyse) {
    this.#about = about;
    this.#analyse = analyse;
    this.#build();
  }

  #build() {
    const p = this.#parts;
    p.state = h("p", { class: "soft", role: "status" });
    p.ask = button(t("lessons.ask"), () => this.#next(), { class: "main" });
    p.board = new Board((square) => this.#answer(square), t("lessons.board"));
    p.task = h("p", { class: "status", "aria-live": "polite" });
    p.values = h("div", { class: "values" });
    p.show = button(t("lessons.show"), () => this.#answer(null));
    p.open = button(t("lessons.analyse"), () => this.#openInAnalysis());
    p.away = button(t("lessons.remove"), () => this.#remove(), { class: "quiet" });
    p.stage = h("section", { class: "left", hidden: true }, h("div", { class: "stage" }, p.board.element), p.task, p.values,
      h("div", { class: "actions" }, p.show, p.open, p.away));
    p.name = h("input", { type: "search", maxlength: 100, placeholder: "Tastet" });
    p.collect = button(t("lessons.collect"), () => (p.progress.hidden ? this.#collect() : this.#stop()));
    p.progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": t("lessons.collecting") });
    p.collected = h("p", { class: "soft", role: "status" });
    p.empties = choice(t("lessons.empties"), EMPTIES.map((count) => [String(count), t("lessons.empty", { count })]), "10");
    p.puzzle = button(t("lessons.puzzle"), () => this.#puzzle());
    this.element = h("div", { class: "analyse lessons" }, p.stage,
      h("section", { class: "right" },
        h("section", { class: "card" }, h("header", {}, h("h2", {}, t("lessons.title")), p.ask), p.state),
        h("section", { class: "card" }, h("h2", {}, t("lessons.mine")), h("p", { class: "soft" }, t("lessons.mine.about")),
          h("label", { class: "field" }, h("span", {}, t("lessons.name")), p.name),
          h("div", { class: "row" }, p.collect, p.progress), p.collected),
        h("section", { class: "card" }, h("h2", {}, t("lessons.puzzles")), h("p", { class: "soft" }, t("lessons.puzzles.about")),
          p.empties.element, p.puzzle)));
  }

  show() {
    this.#refresh();
  }

  hide() {
    this.#stop();
  }

  key() {
    return false;
  }

  async #refresh() {
    try {
      this.#all = (await get("/api/lessons")).lessons;
    } catch (error) {
      this.#parts.state.textContent = error.message;
      return;
    }
    const due = this.#all.filter((lesson) => lesson.due).length;
    const learnt = this.#all.filter((lesson) => lesson.learnt).length;
    this.#parts.state.textContent = t(this.#all.length ? "lessons.state" : "lessons.none", { due, learnt, all: this.#all.length });
    this.#parts.ask.hidden = !this.#all.some((lesson) => !lesson.learnt);
  }

  /** Asks what is due, or else what is not learnt yet. */
  #next() {
    const others = this.#all.filter(({ id, learnt }) => !learnt && id !== this.#asked?.lesson.id);
    const lesson = others.find(({ due }) => due) ?? others[0] ?? this.#all.find(({ learnt }) => !learnt);
    if (lesson) this.#ask(lesson);
  }

  /** @param {Lesson} lesson */
  async #ask(lesson) {
    const p = this.#parts;
    try {
      const { board, goal, start, moves } = lesson;
      const tree = await Tree.load({ board, goal, ...(start ? { start } : {}), moves });
      tree.current = tree.line().at(-1);
      this.#asked = { lesson, tree, isOpen: true };
    } catch (error) {
      complain(error);
      return;
    }
    p.stage.hidden = false;
    p.board.setShape(this.#about.boards.find(({ name }) => name === lesson.board));
    p.values.replaceChildren();
    p.show.hidden = false;
    p.open.hidden = true;
    p.away.hidden = !lesson.id;
    this.#draw();
    const side = sideWord(this.#asked.tree.current.ply.side);
    const found = lesson.found ? ` ${t("lessons.found", { count: lesson.found[0], all: lesson.found[1] })}` : "";
    const key = lesson.kind === "puzzle" ? "lessons.task.puzzle" : "lessons.task.mistake";
    p.task.textContent = t(key, { side, played: lesson.played ?? "", source: lesson.source }) + found;
    p.board.element.scrollIntoView({ block: "nearest" });
  }

  #draw() {
    const { tree } = this.#asked;
    const { ply } = tree.current;
    this.#parts.board.show({ discs: ply.discs, legal: this.#asked.isOpen ? ply.legal : [], last: ply.move, side: ply.side });
  }

  /** Judges a move; `null` gives up. @param {?string} square */
  async #answer(square) {
    if (!this.#asked?.isOpen) return;
    const { lesson, tree } = this.#asked;
    if (square !== null && !tree.current.ply.legal.includes(square)) return;
    const [best] = lesson.values;
    const value = lesson.values.find(({ move }) => move === square);
    const isRight = value === best || (value !== undefined && best.score - value.score <= RIGHT && !(value.exact && best.exact && best.score > value.score));
    this.#asked.isOpen = false;
    const word = isRight ? "lessons.right" : square === null ? "lessons.shown" : "lessons.wrong";
    this.#say(t(word, { move: square ?? "", best: best.move }));
    this.#explain(lesson, square);
    this.#draw();
    try {
      await this.#note(lesson, isRight);
    } catch (error) {
      complain(error);
    }
    await this.#refresh();
  }

  /** Keeps an answer. A new puzzle becomes a lesson if it was not solved. @param {Lesson} lesson */
  async #note(lesson, isRight) {
    if (!lesson.id) {
      if (!isRight) await post("/api/lessons", { lessons: [lesson] });
      return;
    }
    const { learnt } = await post(`/api/lessons/${lesson.id}/answer`, { right: isRight });
    if (learnt) notice(t("lessons.learnt"));
  }

  #say(text) {
    this.#parts.task.textContent = text;
    announce(text);
  }

  /** What each move is worth, and loses. @param {Lesson} lesson @param {?string} chosen */
  #explain(lesson, chosen) {
    const p = this.#parts;
    const [best] = lesson.values;
    const row = ({ move, score, exact }) => {
      const lost = best.score - score;
      const words = lost > 0 ? t("lessons.loses", { count: lost.toFixed(exact ? 0 : 1) }) : t("lessons.best");
      return h("p", { class: move === chosen ? "chosen" : "" }, h("b", {}, move), h("span", {}, signed(score, exact ? 0 : 1)),
        h("span", {}, words), h("span", { class: "soft" }, t(exact ? "lessons.exact" : "lessons.estimate")));
    };
    p.values.replaceChildren(...lesson.values.map(row), h("p", { class: "soft" }, lesson.source));
    p.show.hidden = true;
    p.open.hidden = false;
  }

  #openInAnalysis() {
    this.#analyse(this.#asked.tree.game(), {});
  }

  async #remove() {
    try {
      await remove(`/api/lessons/${this.#asked.lesson.id}`);
    } catch (error) {
      complain(error);
    }
    this.#asked = null;
    this.#parts.stage.hidden = true;
    this.#refresh();
  }

  async #puzzle() {
    const p = this.#parts;
    p.puzzle.disabled = true;
    try {
      await this.#ask(await post("/api/lessons/puzzle", { board: "8x8", goal: "most", empties: Number(p.empties.value) }));
    } catch (error) {
      complain(error);
    } finally {
      p.puzzle.disabled = false;
    }
  }

  #stop() {
    this.#work.end();
    this.#parts.progress.hidden = true;
    this.#parts.collect.textContent = t("lessons.collect");
  }

  /** Looks through games of a name, or through those that were played here, for mistakes. */
  async #collect() {
    const p = this.#parts;
    const signal = this.#work.begin();
    const name = p.name.value.trim();
    const { seen } = recall("lessons", { seen: [] });
    p.progress.hidden = false;
    p.progress.value = 0;
    p.collect.textContent = t("lessons.stop");
    p.collected.textContent = t("lessons.collecting");
    try {
      const found = await listGames(name ? { player: name, most: 200 } : { own: true, most: 200 }, signal);
      const games = found.filter((game) => !seen.includes(keyOf(game, name))).slice(0, GAMES);
      let added = 0;
      for (const [index, game] of games.entries()) {
        added += await this.#look(game, name, signal, (part) => { p.progress.value = (index + part) / games.length; });
        seen.push(keyOf(game, name));
        keep("lessons", { seen: seen.slice(-2_000) });
      }
      p.collected.textContent = games.length ? t("lessons.collected", { games: games.length, count: added })
        : t(found.length ? "lessons.allSeen" : "lessons.noGames");
    } catch (error) {
      if (signal.aborted) p.collected.textContent = t("lessons.stopped");
      else p.collected.textContent = error.message;
    }
    if (!signal.aborted) this.#stop();
    this.#refresh();
  }

  /** Adds the mistakes of a game. Returns how many are new. */
  async #look(listed, name, signal, progress) {
    const { game } = await get(`/api/library/games/${listed.id}`, signal);
    const tree = await Tree.load(game, signal);
    const line = tree.line();
    const last = line.filter(({ over }) => !over).at(-1);
    let done = 0;
    await stream("/api/review", { ...tree.game(last), player: JUDGE }, signal, (kind, found) => {
      if (kind !== "ply") return;
      line[found.ply].advice.set(JUDGE, found);
      done += 1;
      progress(done / line.length);
    });
    const sides = sidesOf(listed, name);
    const mistakes = line.filter((node) => sides.includes(node.ply.mover) && lossOf(node, JUDGE)?.isMistake);
    const lessons = mistakes.map((node) => lessonOf(node, tree, listed)).filter(Boolean);
    return lessons.length ? (await post("/api/lessons", { lessons }, signal)).added : 0;
  }
}

/** What tells games apart, also after their index was made again. */
const keyOf = ({ file, number, date }, name) => [file, number, date ?? "", name].join(":");

/** The sides whose mistakes count: those of the name, or of the person who played here. */
function sidesOf({ black, white, own }, name) {
  const wanted = name.toLowerCase();
  const is = (player) => (name ? (player ?? "").toLowerCase().includes(wanted) : own && player === PERSON);
  return [["black", black], ["white", white]].filter(([, player]) => is(player)).map(([side]) => side);
}

/** @param {import("./tree.js").Node} node the move that was a mistake */
function lessonOf(node, tree, listed) {
  const { hints } = node.parent.advice.get(JUDGE);
  const values = hints.filter(({ score }) => score !== null)
    .map(({ move, score, bound }) => ({ move, score, exact: bound === "exact" }));
  if (!values.length || values[0].move === node.move) return null;
  const { board, goal, start, moves } = tree.game(node.parent);
  return { kind: "mistake", board, goal, ...(start ? { start } : {}), moves, values, played: node.move, source: namesOf(listed) };
}
