// Watch runs learn: their state, curves, newest game and configuration.

import { get, post } from "./api.js";
import { button, choice, complain, h, keep, recall } from "./dom.js";
import { Chart } from "./chart.js";
import { Replay } from "./replay.js";
import { minutesWord, short } from "./words.js";
import { workersTable } from "./workers.js";

/** Runs are looked at this often, in milliseconds. */
const INTERVAL = 3000;
const AXES = [["minutes", "Minutes"], ["games", "Games"], ["positions", "Positions"], ["steps", "Steps"]];

/** Charts of metrics. With several runs, charts that have one metric each stay readable. */
const LOSSES = [["loss/policy", "policy"], ["loss/value", "value"], ["loss/score", "score"], ["loss/owner", "owner"]];
const CHARTS = [
  { title: "Losses on held-out games", metrics: [["held_out/policy_loss", "policy"], ["held_out/value_loss", "value"]] },
  { title: "Games per second", metrics: [["speed/games_per_second", "games/s"]] },
  { title: "Evaluations per second", metrics: [["speed/evaluations_per_second", "evaluations/s"]] },
  { title: "Share of time spent waiting", metrics: [["wait/actors", "actors"], ["wait/learner", "learner"]] },
  { title: "Replay window, positions", metrics: [["replay/positions", "window"]] },
];

/**
 * @typedef {{id: string, name: string, state: string, error?: string, minutes: number, games: number,
 *   positions: number, steps: number, rating: ?number, rating_error: ?number, left_minutes: ?number,
 *   board?: string, goal?: string, controlled: boolean}} Run
 */

export class WatchView {
  #about;
  /** @type {Run[]} */
  #runs = [];
  /** Curves by run, with the counters at which they were got. */
  #curves = new Map();
  #kept = recall("watch", { axis: "minutes", front: "", shown: [] });
  #timer = 0;
  #charts = new Map();
  #parts = {};
  element;

  /** @param {import("./main.js").About} about @param {(game, names) => void} analyse */
  constructor(about, analyse) {
    this.#about = about;
    const p = this.#parts;
    p.list = h("div", { class: "runs" });
    p.axis = choice("Axis", AXES, this.#kept.axis, (value) => { this.#kept.axis = value; this.#draw(); });
    p.title = h("h2", {}, "");
    p.state = h("span", { class: "state" });
    p.facts = h("dl", { class: "facts" });
    p.control = h("div", { class: "actions" });
    p.workers = h("div", {});
    p.charts = h("div", { class: "charts" });
    p.replay = new Replay(about, analyse);
    p.config = h("pre", { tabindex: 0 });
    p.error = h("p", { class: "soft" });
    p.front = h("section", { class: "card" }, h("header", {}, h("div", { class: "row" }, p.title, p.state), p.control), p.facts, p.error);
    p.right = h("section", { class: "right" }, p.front, p.workers,
      h("div", { class: "row" }, p.axis.element), p.charts, p.replay.element,
      h("details", { class: "card" }, h("summary", {}, "Configuration"), p.config));
    p.right.hidden = true;
    p.start = about.training ? this.#starter() : null;
    this.element = h("div", { class: "watch" },
      h("section", { class: "left" }, h("div", { class: "card" }, h("h2", {}, "Runs"), p.list), p.start), p.right);
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

  open() {}

  key() {
    return false;
  }

  /** Looks at all runs, and gets the curves of those that have changed. */
  async #refresh() {
    if (!this.#about.runs) {
      this.#parts.list.replaceChildren(h("p", { class: "soft" }, "No folder of runs was given. Start the program with --runs FOLDER."));
      return;
    }
    try {
      this.#runs = (await get("/api/runs")).runs;
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
      this.#parts.replay.follow(run.id);
      const { config } = await get(`/api/runs/${encodeURIComponent(run.id)}`);
      this.#parts.config.textContent = config ?? "";
    }
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
    const workers = run.state === "running" && workersTable(this.#curves.get(run.id)?.curves ?? {});
    this.#parts.workers.replaceChildren(...(workers ? [workers] : []));
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
        type: "checkbox", "aria-label": `Draw ${run.name} too`, disabled: isFront,
        onchange: () => this.#tick(run.id, box.checked),
      });
      box.checked = isFront || this.#kept.shown.includes(run.id);
      return h("div", { class: `run ${isFront ? "front" : ""}` }, box,
        button(run.name, () => this.#choose(run.id), { class: "open", "data-run": run.id, "aria-current": isFront ? "true" : false }),
        h("span", { class: "about" }, `${run.state}, ${minutesWord(run.minutes)}`, run.rating === null ? "" : `, ${Math.round(run.rating)} Elo`));
    });
    list.replaceChildren(...(rows.length ? rows : [h("p", { class: "soft" }, "No runs yet.")]));
    if (focused) list.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus();
  }

  #drawFront(run) {
    const p = this.#parts;
    p.title.textContent = run.name;
    p.state.textContent = run.state;
    p.state.className = `state ${run.state === "running" ? "running" : ""}`;
    p.error.textContent = run.error ?? "";
    p.error.hidden = !run.error;
    const error = run.rating_error === null ? "" : ` ± ${Math.round(run.rating_error)}`;
    const facts = [
      ["Time", minutesWord(run.minutes)],
      ["Time left", run.left_minutes === null || run.state !== "running" ? null : minutesWord(run.left_minutes)],
      ["Rating", run.rating === null ? null : `${Math.round(run.rating)}${error}`],
      ["Games", short(run.games)], ["Positions", short(run.positions)], ["Steps", short(run.steps)],
      ["Board", run.board && `${run.board}, ${run.goal}`],
    ];
    p.facts.replaceChildren(...facts.filter(([, value]) => value).map(([word, value]) => h("div", {}, h("dt", {}, word), h("dd", {}, value))));
    const command = (word, path) => button(word, () => this.#command(path, { run: run.id }));
    const canResume = ["stopped", "failed", "killed"].includes(run.state);
    p.control.replaceChildren(...(!this.#about.training ? [] : [
      run.state === "running" && run.controlled && command("Stop", "stop"), canResume && command("Resume", "resume"),
    ].filter(Boolean)));
  }

  async #command(path, body) {
    try {
      const answer = await post(`/api/training/${path}`, body);
      if (answer?.run) this.#kept.front = answer.run;
      await this.#refresh();
    } catch (error) {
      complain(error);
    }
  }

  /** The form that starts a run. */
  #starter() {
    const p = this.#parts;
    p.config0 = choice("Configuration", [], "");
    p.name = h("input", { type: "text", maxlength: 60, placeholder: "my-run", required: true });
    return h("form", {
      class: "card fields",
      onsubmit: (event) => {
        event.preventDefault();
        this.#command("start", { config: p.config0.value, name: p.name.value.trim() });
      },
    }, h("h2", {}, "Start a run"), p.config0.element, h("label", { class: "field" }, h("span", {}, "Name"), p.name),
      h("button", { class: "main" }, "Start"));
  }

  async #offerConfigs() {
    try {
      const { configs } = await get("/api/training");
      this.#parts.config0.offer(configs.map(({ name, about }) => [name, about ? `${name}: ${about}` : name]));
    } catch (error) {
      complain(error);
    }
  }

  #drawCharts() {
    const runs = this.#chosen().filter(({ id }) => this.#curves.has(id));
    const losses = runs.length > 1
      ? LOSSES.map((metric) => ({ title: `Loss: ${metric[1]}`, metrics: [metric] }))
      : [{ title: "Losses", metrics: LOSSES }];
    const plots = [this.#ratingPlot(runs), ...[...losses, ...CHARTS].map((chart) => this.#plot(chart, runs))];
    for (const [title, chart] of this.#charts) {
      if (!plots.some((plot) => plot.title === title)) {
        chart.element.remove();
        this.#charts.delete(title);
      }
    }
    for (const plot of plots) {
      if (!this.#charts.has(plot.title)) this.#charts.set(plot.title, new Chart());
      const chart = this.#charts.get(plot.title);
      if (chart.element.parentNode !== this.#parts.charts) this.#parts.charts.append(chart.element);
      chart.show(plot);
    }
  }

  /** The axis of a run's metrics. Where a run does not know its games, for example, it has no curve. */
  #axis(found) {
    return found[this.#kept.axis] ?? [];
  }

  #plot({ title, metrics }, runs) {
    const curves = runs.flatMap((run) => metrics.map(([id, word]) => {
      const found = this.#curves.get(run.id);
      const axis = this.#axis(found);
      const points = (found.curves[id] ?? []).map((y, at) => ({ x: axis[at], y }))
        .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
      const name = runs.length === 1 ? word : metrics.length === 1 ? run.name : `${run.name}, ${word}`;
      return { name, points };
    })).filter(({ points }) => points.length);
    return { title, curves, xWord: this.#kept.axis };
  }

  #ratingPlot(runs) {
    const { axis } = this.#kept;
    const nets = runs.map((run) => ({
      name: runs.length === 1 ? "rating" : run.name, dots: true,
      points: this.#curves.get(run.id).ratings.map((point) => ({ x: point[axis], y: point.rating, error: point.error ?? 0 }))
        .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)),
    })).filter(({ points }) => points.length);
    const xs = nets.flatMap(({ points }) => points.map(({ x }) => x));
    const ends = xs.length ? [Math.min(...xs), Math.max(...xs)] : [];
    // Opponents are the same for all runs with the same evaluation, so the front run's will do.
    const opponents = runs.length ? this.#curves.get(runs[0].id).opponents ?? [] : [];
    const lines = opponents.filter(({ rating }) => Number.isFinite(rating)).slice(0, 5)
      .map(({ name, rating }) => ({ name, points: ends.map((x) => ({ x, y: rating })) }));
    return { title: "Rating, Elo", about: "The bands are 95 percent intervals", curves: [...nets, ...lines], xWord: axis };
  }
}
