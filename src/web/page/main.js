// Starts the page: asks what the server offers, and shows one of three views.

import { AnalyseView } from "./analyse.js";
import { get, getFile as file } from "./api.js";
import { applyAppearance } from "./appearance.js";
import { complain, h } from "./dom.js";
import { filesOf, hasFiles } from "./drop.js";
import { LessonsView } from "./lessons.js";
import { LibraryView } from "./library.js";
import { PlayView } from "./play.js";
import { settingsBox } from "./settingsbox.js";
import { language, t } from "./texts.js";
import { WatchView } from "./watch.js";

/**
 * What the server offers.
 * @typedef {{boards: import("./api.js").BoardShape[], default_level: string,
 *   default_opinion: string, solved_from: number, file?: string, library: boolean, runs: boolean, training: boolean,
 *   menus: {board: string, goal: string, players: import("./api.js").Player[]}[]}} About
 */

/** Views are made when they are first seen, and are told when they are shown and hidden. */
class Views {
  #makers;
  #made = new Map();
  #shown = null;
  #main = document.getElementById("view");

  constructor(makers) {
    this.#makers = makers;
    addEventListener("hashchange", () => this.follow());
    addEventListener("keydown", (event) => this.#key(event));
    addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
    addEventListener("drop", (event) => this.#drop(event));
    addEventListener("paste", (event) => this.#paste(event));
  }

  /** Shows the view that the address names. */
  follow() {
    const [name, query] = location.hash.slice(1).split(/\?(.*)/s);
    this.show(Object.hasOwn(this.#makers, name) ? name : "play");
    if (name === "analyse" && query) this.#made.get(name).openLink(query);
  }

  /** Shows a view, and returns it. @param {string} name @param {...any} news handed to the view */
  show(name, ...news) {
    if (!this.#made.has(name)) this.#made.set(name, this.#makers[name]());
    const view = this.#made.get(name);
    if (this.#shown !== view) {
      this.#shown?.hide();
      // A dialog that leaves the page open would come back without its backdrop.
      for (const box of this.#main.querySelectorAll("dialog[open]")) box.close();
      this.#shown = view;
      this.#main.replaceChildren(view.element);
      for (const link of document.querySelectorAll("nav a")) {
        if (link.dataset.view === name) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      document.title = t("view.title", { view: t(`view.${name}`) });
      view.show();
      for (const made of this.#made.values()) made.makeWay?.(name);
    }
    if (news.length) view.open(...news);
    if (location.hash.slice(1) !== name) history.replaceState(null, "", `#${name}`);
    return view;
  }

  /** Files may be dropped anywhere: analysis reads them. */
  async #drop(event) {
    if (!hasFiles(event)) return;
    event.preventDefault();
    try {
      this.read(await filesOf(event.dataTransfer));
    } catch (error) {
      complain(error);
    }
  }

  /** So may a game be pasted anywhere, except where text is being written. */
  #paste(event) {
    if (event.target.closest?.("input, textarea, dialog")) return;
    const files = [...event.clipboardData.files];
    const text = event.clipboardData.getData("text/plain");
    if (files.length || text.trim()) this.read(files.length ? files : [text]);
  }

  /** Reads files and texts in the analysis. @param {(File|string)[]} bodies */
  read(bodies) {
    this.show("analyse");
    this.#made.get("analyse").read(bodies);
  }

  /** Keys go to the view in front, but not while something is being written or chosen. */
  #key(event) {
    const isField = event.target.closest?.("input, select, textarea, dialog");
    if (isField || event.altKey || event.ctrlKey || event.metaKey) return;
    if (this.#shown?.key(event.key)) event.preventDefault();
  }
}

/** The texts of the page's frame in the user's language. */
function speak() {
  document.documentElement.lang = language;
  document.querySelector("nav").setAttribute("aria-label", t("view.nav"));
  for (const link of document.querySelectorAll("nav a")) link.textContent = t(`view.${link.dataset.view}`);
}

/** The dialog of the settings, and the button that opens it. */
function offerSettings() {
  const box = settingsBox();
  document.body.append(box);
  const open = document.getElementById("settings");
  open.setAttribute("aria-label", t("settings.title"));
  open.title = t("settings.title");
  open.addEventListener("click", () => box.showModal());
}

/** A server may have no library: then there are no views of it. */
function withoutLibrary(makers) {
  for (const name of ["library", "lessons"]) {
    delete makers[name];
    document.querySelector(`nav a[data-view=${name}]`).remove();
  }
}

async function start() {
  applyAppearance();
  speak();
  offerSettings();
  const main = document.getElementById("view");
  try {
    /** @type {About} */
    const about = await get("/api/about");
    const analyse = (game, names) => views.show("analyse", game, names);
    const list = (game) => views.show("library", game);
    const makers = {
      play: () => new PlayView(about, analyse),
      analyse: () => new AnalyseView(about, (game, chosen) => views.show("play", game, chosen), list),
      library: () => new LibraryView(analyse),
      lessons: () => new LessonsView(about, analyse),
      watch: () => new WatchView(about, analyse, (player, side) => views.show("play").offerNet(player, side)),
    };
    if (!about.library) withoutLibrary(makers);
    const views = new Views(makers);
    views.follow();
    if (about.file) views.read([await file(about.file)]);
  } catch (error) {
    main.replaceChildren(h("p", { class: "wait" }, t("page.failed", { why: error.message })));
    complain(error);
  }
}

start();
