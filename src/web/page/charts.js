// Which charts a run gets: a chart for every curve that the run writes. Known curves have a group, and by
// the chart's id a title and a sentence on what is shown and what is good; others are shown under their own
// name, so a new method needs nothing here.

import { hasText, t } from "./texts.js";

/**
 * A chart. `curves` are patterns of names with the curve's word: `*` stands for any text, which becomes the word.
 * @typedef {{id: string, curves: [string, string][]}} Known
 * @typedef {{group: string, title: string, about: string, metrics: [string, string][]}} ChartPlan
 */

/** Shown elsewhere: the rating has a chart of its own, and workers have a table. */
const ELSEWHERE = ["rating/net", "rating/error", "workers/*/*"];

/** @returns {Known} */
const chart = (id, ...curves) => ({ id, curves });

/** By group, in the order of interest. @type {[string, Known[]][]} */
const GROUPS = [
  ["strength", [chart("score", ["score/*", "*"])]],
  ["stages", [
    chart("stage.sigma", ["stage/sigma", "error"]),
    chart("stage.right", ["stage/right", "right"]),
    chart("stage.error", ["stage/error", "change"]),
    chart("pattern_error", ["pattern_error/*", "*"]),
    chart("ntuple_error", ["ntuple_error/*", "*"]),
    chart("stage.discs", ["stage/discs", "discs"]),
    chart("stage.round", ["stage/round", "round"]),
    chart("stage.rounds", ["stage/rounds", "fits"]),
    chart("stage.seconds", ["stage/seconds", "seconds"]),
  ]],
  ["learning", [
    chart("losses", ...["policy", "value", "score", "owner"].map((word) => [`loss/${word}`, word])),
    chart("loss", ["loss/total", "total"]),
    chart("held_out", ["held_out/policy_loss", "policy"], ["held_out/value_loss", "value"]),
    chart("held_out_error", ["held_out/value_error", "error"]),
    chart("agreement", ["policy/agreement", "agreement"]),
    chart("entropy", ["policy/entropy", "net"], ["policy/target_entropy", "search"]),
    chart("opening", ["opening/*", "*"]),
    chart("rate", ["learner/rate", "rate"]),
    chart("steps", ["learner/steps", "steps"]),
  ]],
  ["speed", [
    chart("games_speed", ["speed/games_per_second", "speed.games"]),
    chart("positions_speed", ["speed/positions_per_second", "speed.positions"]),
    chart("simulations_speed", ["speed/simulations_per_second", "speed.simulations"]),
    chart("evaluations_speed", ["speed/evaluations_per_second", "speed.evaluations"]),
    chart("waiting", ["wait/actors", "actors"], ["wait/learner", "learner"]),
    chart("workers", ["workers/count", "workers"]),
  ]],
  ["replay", [
    chart("window", ["replay/positions", "window"]),
    chart("bytes", ["replay/bytes", "bytes"]),
    chart("age", ["replay/mean_age", "positions"]),
    chart("ratio", ["replay/ratio", "samples"]),
  ]],
  ["games", [
    chart("length", ["games/length", "moves"]),
    chart("passes", ["games/passes", "passes"]),
    chart("draws", ["games/draws", "draws"]),
    chart("points", ["games/black_points", "points"]),
    chart("difference", ["games/black_score", "discs"]),
    chart("solved", ["games/solved_moves", "moves"]),
  ]],
];

/** The text that `*` stands for, or `null` if the name does not fit. @returns {?string} */
function fitting(pattern, name) {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\/]/g, "\\$&"));
  const found = new RegExp(`^${parts.join("(.+)")}$`).exec(name);
  return found && (found[1] ?? "");
}

/** The word of a curve. Names of opponents and parts are the run's own. */
const curveWord = (word) => (hasText(`curve.${word}`) ? t(`curve.${word}`) : word.replaceAll("_", " "));

/** @param {Known} chart @param {string[]} names @returns {[string, string][]} */
function metricsOf({ curves }, names) {
  return curves.flatMap(([pattern, word]) => names.flatMap((name) => {
    const text = fitting(pattern, name);
    return text === null ? [] : [[name, curveWord(word === "*" ? text : word)]];
  }));
}

/**
 * The charts of some curves. With `isSplit` each curve has a chart of its own, which several runs share.
 * @param {string[]} names the names of the curves that the runs have written
 * @returns {ChartPlan[]}
 */
export function chartsOf(names, isSplit) {
  const shown = new Set(names.filter((name) => ELSEWHERE.some((pattern) => fitting(pattern, name) !== null)));
  const plans = GROUPS.flatMap(([id, charts]) => charts.flatMap((chart) => {
    const metrics = metricsOf(chart, names);
    for (const [name] of metrics) shown.add(name);
    const group = t(`group.${id}`);
    const [title, about] = [t(`chart.${chart.id}.title`), t(`chart.${chart.id}.about`)];
    if (!isSplit || metrics.length < 2) return metrics.length ? [{ group, title, about, metrics }] : [];
    return metrics.map((metric) => ({ group, title: t("chart.of", { title, curve: metric[1] }), about, metrics: [metric] }));
  }));
  const others = names.filter((name) => !shown.has(name));
  return [...plans, ...others.map((name) => ({
    group: t("group.others"), title: name, about: t("chart.other"), metrics: [[name, name]],
  }))];
}
