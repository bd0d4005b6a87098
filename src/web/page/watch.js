// Watch runs learn: their state, curves, newest game and configuration.

import { get, post } from "./api.js";
import { button, choice, complain, h, notice } from "./dom.js";
import { Chart } from "./chart.js";
import { chartsOf } from "./charts.js";
import { Replay } from "./replay.js";
import { RunNet } from "./runnet.js";
import { keep, recall } from "./storage.js";
import { t } from "./texts.js";
import { minutesWord, short, stateWord } from "./words.js";
import { workersTable } from "./workers.js";

/** Runs are looked at this often, in milliseconds. */
const INTERVAL = 3000;
/** States in which a run can go on. */
const RESUMED = ["stopped", "failed", "killed"];
const AXES = ["minutes", "games", "positions", "steps", "reports"].map((name) => [name, t(`watch.${name}`)]);
/** A method with this curve trains stage by stage: its steps are stages. */
const STAGE = "stage/seconds";
/** Standard errors in half of a 95 percent interval. */
const INTERVAL_95 = 1.96;
const RATING = { title: t("chart.rating.title"), group: t("group.strength"), about: t("chart.rating.about") };

/**
 * @typedef {{id: string, name: string, state: string, error?: string, minutes: number, games: number,
 *   positions: number, steps: number, rating: ?number, rating_error: ?number, left_minutes: ?number,
 *   board?: string, goal?: string, controlled: boolean, ending?: boolean,
 *   stages?: {done: number, all: number}}} Run
 */

export class WatchView {
  #about;
  /** @type {Run[]} */
  #runs = [];
  /** Curves by run, with the counters at which they were got. */
  #curves = new Map();
  #kept = recall("watch", { axis: "minutes", front: "", shown: [] });
  #timer = 0;
  /** Configurations that a run can start with. @type {{name: string, about: string}[]} */
  #configs = [];
  /** By title. @type {Map<string, Chart>} */
  #charts = new Map();
  /** Commands that runs have not followed yet, by run. @type {Map<string, "stop"|"resume">} */
  #commands = new Map();
  /** What the charts and the choice of an axis were made for. */
  #order = "";
  #axes = "";
  #parts = {};
  element;

  /** @param {import("./main.js").About} about @param {(game, names) => void} analyse @param {(player, side) => void} play */
  constructor(about, analyse, play) {
    this.#about = about;
    const p = this.#parts;
    p.list = h("div", { class: "runs" });
    p.axis = choice(t("watch.axis"), AXES, this.#kept.axis, (value) => { this.#kept.axis = value; this.#draw(); });
    p.title = h("h2", {}, "");
    p.state = h("span", { class: "state" });
    p.facts = h("dl", { class: "facts" });
    p.control = h("div", { class: "actions" });
    p.net = new RunNet((player, run, side) => play(player, side));
    p.workers = h("div", { class: "groups" });
    p.charts = h("div", { class: "groups" });
    p.replay = new Replay(about, analyse);
    p.config = h("pre", { tabindex: 0 });
    p.error = h("p", { class: "soft" });
    p.front = h("section", { class: "card" }, h("header", {}, h("div", { class: "row" }, p.title, p.state), p.control), p.facts, p.error, p.net.element);
    p.right = h("section", { class: "right" }, p.front, p.workers,
      h("div", { class: "row" }, p.axis.element), p.charts, p.replay.element,
      h("details", { class: "card" }, h("summary", {}, t("watch.config")), p.config));
    p.right.hidden = true;
    p.start = about.training ? this.#starter() : null;
    this.element = h("div", { class: "watch" },
      h("section", { class: "left" }, h("div", { class: "card" }, h("h2", {}, t("watch.runs")), p.list), p.start), p.right);
  }

  show() {
    this.#refresh();
    this.#timer = setInterval(() => this.#refresh(), INTERVAL);
    if (this.#parts.start) this.#offerConfigs();
  }

  hide() {
    clearInterval(this.#timer);
    this.#parts.replay.stop();
  }

  key() {
    return false;
  }

  /** Looks at all runs, and gets the curves of those that have changed. */
  async #refresh() {
    if (!this.#about.runs) {
      this.#parts.list.replaceChildren(h("p", { class: "soft" }, t("watch.nofolder")));
      return;
    }
    try {
      this.#runs = (await get("/api/runs")).runs;
      for (const { id, state } of this.#runs) {
        if (state !== "running" && this.#commands.get(id) === "stop") this.#commands.delete(id);
      }
      const ids = this.#runs.map(({ id }) => id);
      this.#kept.shown = this.#kept.shown.filter((id) => ids.includes(id));
      if (!ids.includes(this.#kept.front)) this.#kept.front = ids[0] ?? "";
      await this.#fetch();
    } catch (error) {
      complain(error);
      return;
    }
    this.#draw();
  }

  async #fetch() {
    for (const run of this.#chosen()) {
      const stamp = `${run.state} ${run.minutes} ${run.steps} ${run.rating}`;
      const known = this.#curves.get(run.id);
      if (known?.stamp === stamp || run.state === "unreadable") continue;
      const found = await get(`/api/runs/${encodeURIComponent(run.id)}/curves`);
      this.#curves.set(run.id, { ...found, stamp });
      if (run.id !== this.#kept.front) continue;
      // Curves are drawn also where the rest of a run is missing.
      this.#parts.replay.follow(run.id).catch(complain);
      this.#showConfig(run.id).catch(complain);
    }
  }

  async #showConfig(id) {
    this.#parts.config.textContent = "";
    const { config } = await get(`/api/runs/${encodeURIComponent(id)}`);
    if (id === this.#kept.front) this.#parts.config.textContent = config || t("watch.noconfig");
  }

  /** The run in front, then the others that are ticked. */
  #chosen() {
    const { front, shown } = this.#kept;
    return this.#runs.filter(({ id }) => id === front || shown.includes(id))
      .sort((a, b) => Number(b.id === front) - Number(a.id === front));
  }

  async #choose(id) {
    this.#kept.front = id;
    const stale = this.#curves.get(id);
    if (stale) stale.stamp = "";
    await this.#refresh();
  }

  async #tick(id, isOn) {
    const { shown } = this.#kept;
    this.#kept.shown = isOn ? [...shown, id] : shown.filter((other) => other !== id);
    await this.#refresh();
  }

  #draw() {
    keep("watch", this.#kept);
    this.#drawList();
    const run = this.#runs.find(({ id }) => id === this.#kept.front);
    this.#parts.right.hidden = !run;
    if (!run) return;
    this.#drawFront(run);
    const chosen = this.#chosen();
    const tables = chosen.map(({ id, name, state }) => workersTable(this.#curves.get(id)?.curves ?? {},
      workersTitle(chosen.length > 1 ? name : null, state === "running")));
    this.#parts.workers.replaceChildren(...tables.filter(Boolean));
    this.#drawCharts();
  }

  #drawList() {
    const { list } = this.#parts;
    // A list that is drawn anew would take the focus from its user.
    const text = JSON.stringify([this.#runs, this.#kept.front, this.#kept.shown]);
    if (this.drawn === text) return;
    this.drawn = text;
    const focused = document.activeElement?.dataset?.run;
    const rows = this.#runs.map((run) => {
      const isFront = run.id === this.#kept.front;
      const box = h("input", {
        type: "checkbox", "aria-label": t("watch.draw", { run: run.name }), disabled: isFront,
        onchange: () => this.#tick(run.id, box.checked),
      });
      box.checked = isFront || this.#kept.shown.includes(run.id);
      return h("div", { class: `run ${isFront ? "front" : ""}` }, box,
        button(run.name, () => this.#choose(run.id), { class: "open", "data-run": run.id, "aria-current": isFront ? "true" : false }),
        h("span", { class: "about" }, aboutWord(run)));
    });
    list.replaceChildren(...(rows.length ? rows : [h("p", { class: "soft" }, t("watch.noruns"))]));
    if (focused) list.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus();
  }

  #drawFront(run) {
    const p = this.#parts;
    p.title.textContent = run.name;
    p.state.textContent = stateWord(run.state);
    p.state.className = `state ${run.state === "running" ? "running" : ""}`;
    p.error.textContent = run.error ?? (run.state === "finished" ? t("watch.finished") : "");
    p.error.hidden = !p.error.textContent;
    const error = run.rating_error === null ? "" : ` ± ${Math.round(INTERVAL_95 * run.rating_error)}`;
    const facts = [
      [t("watch.time"), minutesWord(run.minutes)],
      [t("watch.left"), run.left_minutes === null || run.state !== "running" ? null : minutesWord(run.left_minutes)],
      [t("watch.rating"), run.rating === null ? null : `${Math.round(run.rating)}${error}`],
      [t("watch.games"), short(run.games)], [t("watch.positions"), short(run.positions)],
      [this.#stepWord([run]), run.stages ? t("watch.of", { count: run.stages.done, all: run.stages.all }) : short(run.steps)],
      [t("watch.board"), run.board && `${run.board}, ${t(`watch.${run.goal}`)}`],
    ];
    p.facts.replaceChildren(...facts.filter(([, value]) => value).map(([word, value]) => h("div", {}, h("dt", {}, word), h("dd", {}, value))));
    p.net.show(run);
    this.#drawControl(run);
  }

  /** Stop and Resume. Drawn only when it changes, so that a button does not vanish below the pointer. */
  #drawControl(run) {
    const { control } = this.#parts;
    const offered = run.state === "running" ? run.controlled && "stop" : RESUMED.includes(run.state) && "resume";
    // A run that was told to stop goes on until it has saved itself.
    const given = this.#commands.get(run.id) ?? (run.ending ? "stop" : undefined);
    const shown = this.#about.training ? given ?? offered : false;
    const text = JSON.stringify([run.id, shown, given]);
    if (control.dataset.drawn === text) return;
    control.dataset.drawn = text;
    const stop = () => button(given ? t("watch.stopping") : t("watch.stop"), () => this.#stop(run), { disabled: Boolean(given) });
    const resume = () => button(given ? t("watch.starting") : t("watch.resume"), () => this.#resume(run), { disabled: Boolean(given) });
    const stopping = () => (given ? [stop(), button(t("watch.kill"), () => this.#kill(run))] : [stop()]);
    control.replaceChildren(...(shown === "stop" ? stopping() : shown === "resume" ? [resume()] : []));
  }

  /** Asks a run to save itself and end. The button waits until it has. */
  async #stop(run) {
    if (this.#commands.has(run.id)) return;
    this.#commands.set(run.id, "stop");
    this.#drawControl(run);
    if (!await this.#command("stop", { run: run.id })) this.#commands.delete(run.id);
    this.#draw();
  }

  /** Ends a run at once, after a question. */
  async #kill(run) {
    if (!confirm(t("watch.sure", { run: run.name }))) return;
    await this.#command("kill", { run: run.id });
    this.#draw();
  }

  async #resume(run) {
    if (this.#commands.has(run.id)) return;
    this.#commands.set(run.id, "resume");
    this.#drawControl(run);
    const isDone = await this.#command("resume", { run: run.id });
    this.#commands.delete(run.id);
    this.#draw();
    const now = this.#runs.find(({ id }) => id === run.id);
    if (isDone && now && now.state !== "running") {
      notice(t("watch.notresumed", { run: run.name, state: stateWord(now.state) }), true);
    }
  }

  /** Sends a command about a run. Whether it succeeded. */
  async #command(path, body) {
    try {
      const answer = await post(`/api/training/${path}`, body);
      this.#kept.front = answer.run;
      await this.#refresh();
      return true;
    } catch (error) {
      complain(error);
      return false;
    }
  }

  /** The form that starts a run. */
  #starter() {
    const p = this.#parts;
    p.config0 = choice(t("watch.config"), [], "", () => this.#tellConfig());
    p.aboutConfig = h("p", { class: "soft" });
    p.name = h("input", { type: "text", maxlength: 60, placeholder: "my-run", required: true });
    return h("form", {
      class: "card fields",
      onsubmit: (event) => {
        event.preventDefault();
        this.#command("start", { config: p.config0.value, name: p.name.value.trim() });
      },
    }, h("h2", {}, t("watch.starter")), p.config0.element, p.aboutConfig, h("label", { class: "field" }, h("span", {}, t("watch.name")), p.name),
      h("button", { class: "main" }, t("watch.start")));
  }

  async #offerConfigs() {
    try {
      this.#configs = (await get("/api/training")).configs;
      this.#parts.config0.offer(this.#configs.map(({ name }) => [name, name]));
      this.#tellConfig();
    } catch (error) {
      complain(error);
    }
  }

  /** The sentences about a configuration; its comment may end within one. */
  #tellConfig() {
    const { about = "" } = this.#configs.find(({ name }) => name === this.#parts.config0.value) ?? {};
    this.#parts.aboutConfig.textContent = /^.*[.)](?=[\s:]|$)/.exec(about)?.[0] ?? about;
  }

  #drawCharts() {
    const runs = this.#chosen().filter(({ id }) => this.#curves.has(id));
    const names = new Set(runs.flatMap(({ id }) => Object.keys(this.#curves.get(id).curves)));
    const axis = this.#offerAxes(runs);
    const plots = [this.#ratingPlot(runs, axis), ...chartsOf([...names], runs.length > 1).map((plan) => this.#plot(plan, runs, axis))]
      .filter(({ curves }) => curves.length);
    const charts = new Map(plots.map((plot) => [plot.title, this.#charts.get(plot.title) ?? new Chart()]));
    const groups = [...new Set(plots.map(({ group }) => group))];
    // Charts that stay where they are keep the pointer that is over them.
    const order = JSON.stringify(plots.map(({ group, title }) => [group, title]));
    if (this.#order !== order) {
      this.#order = order;
      const boxes = groups.map((group) => h("section", { class: "group" }, h("h2", {}, group), h("div", { class: "charts" },
        ...plots.filter((plot) => plot.group === group).map(({ title }) => charts.get(title).element))));
      this.#parts.charts.replaceChildren(...(boxes.length ? boxes : [h("p", { class: "soft" }, t("watch.nocurves"))]));
    }
    this.#charts = charts;
    for (const plot of plots) charts.get(plot.title).show(plot);
  }

  /** Offers the axes on which the runs move, and returns the one in use. Not every method has all. */
  #offerAxes(runs) {
    const moves = (name) => runs.some(({ id }) => new Set(axisOf(this.#curves.get(id), name)).size > 1);
    const counted = AXES.filter(([name]) => name !== "reports" && moves(name));
    // Reports count nothing of a run, so they stand in only where it has no counter.
    const all = counted.some(([name]) => name !== "minutes") ? counted : AXES.filter(([name]) => moves(name));
    const offered = all.map(([name, word]) => [name, name === "steps" ? this.#stepWord(runs) : word]);
    const axes = offered.length ? offered : AXES.slice(0, 1);
    const { axis } = this.#kept;
    const used = axes.some(([name]) => name === axis) ? axis : axes[0][0];
    // A choice that is being made would be closed.
    const text = JSON.stringify([axes, used]);
    if (this.#axes !== text) this.#parts.axis.offer(axes, used);
    this.#axes = text;
    return used;
  }

  /** What the steps of some runs count. */
  #stepWord(runs) {
    const staged = runs.filter(({ id, stages }) => stages || STAGE in (this.#curves.get(id)?.curves ?? {}));
    return !staged.length ? t("watch.steps") : staged.length === runs.length ? t("watch.stages") : t("watch.both");
  }

  #axisWord(axis, runs) {
    return (axis === "steps" ? this.#stepWord(runs) : t(`watch.${axis}`)).toLowerCase();
  }

  #plot({ group, title, about, metrics }, runs, axisName) {
    const curves = runs.flatMap((run) => metrics.map(([id, word]) => {
      const found = this.#curves.get(run.id);
      const axis = axisOf(found, axisName);
      const points = (found.curves[id] ?? []).map((y, at) => ({ x: axis[at], y }))
        .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
      const name = runs.length === 1 ? word : metrics.length === 1 ? run.name : t("chart.run", { run: run.name, curve: word });
      return { name, points };
    })).filter(({ points }) => points.length);
    return { group, title, about, curves, xWord: this.#axisWord(axisName, runs) };
  }

  #ratingPlot(runs, axis) {
    const pointsOf = (found) => found.ratings.map((point) => ({
      x: placeOf(point, found, axis), y: point.rating, error: INTERVAL_95 * (point.error ?? 0),
    }));
    const nets = runs.map((run) => ({
      name: runs.length === 1 ? t("curve.rating") : run.name, dots: true,
      points: pointsOf(this.#curves.get(run.id)).filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)),
    })).filter(({ points }) => points.length);
    const xs = nets.flatMap(({ points }) => points.map(({ x }) => x));
    const ends = xs.length ? [Math.min(...xs), Math.max(...xs)] : [];
    // Opponents are the same for all runs with the same evaluation, so the front run's will do.
    const opponents = runs.length ? this.#curves.get(runs[0].id).opponents ?? [] : [];
    const lines = opponents.filter(({ rating }) => Number.isFinite(rating)).slice(0, 5)
      .map(({ name, rating }) => ({ name, points: ends.map((x) => ({ x, y: rating })) }));
    return { ...RATING, curves: nets.length ? [...nets, ...lines] : [], xWord: this.#axisWord(axis, runs) };
  }
}

/** The heading of a table of workers. @param {?string} run its name, if there are several */
function workersTitle(run, isRunning) {
  const title = run ? t("workers.of", { run }) : t("workers.title");
  return isRunning ? title : t("workers.end", { title });
}

/** A run's state, time and rating. @param {Run} run */
function aboutWord({ state, minutes, rating }) {
  const about = t("watch.about", { state: stateWord(state), time: minutesWord(minutes) });
  return rating === null ? about : t("watch.rated", { about, rating: Math.round(rating) });
}

/** The place of a rating on an axis. @returns {?number} */
function placeOf(point, found, axis) {
  return axis === "reports" ? found.positions.filter((positions) => positions <= point.positions).length : point[axis];
}

/** An axis of a run's curves. Reports are counted here; a run may have no other axis. @returns {number[]} */
function axisOf(found, name) {
  return name === "reports" ? found.minutes.map((_, index) => index + 1) : found[name] ?? [];
}
