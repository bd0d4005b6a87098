// Which charts a run gets: a chart for every curve that the run writes. Known curves have a title, a
// group and a sentence; others are shown under their own name, so a new method needs nothing here.

/**
 * A chart. `curves` are patterns of names: `*` stands for any text, which becomes the curve's word.
 * @typedef {{title: string, about: string, curves: [string, string][]}} Known
 * @typedef {{group: string, title: string, about: string, metrics: [string, string][]}} ChartPlan
 */

/** Shown elsewhere: the rating has a chart of its own, and workers have a table. */
const ELSEWHERE = ["rating/net", "rating/error", "workers/*/*"];

/** @returns {Known} */
const chart = (title, curves, about) => ({ title, curves, about });

/** By group, in the order of interest. @type {[string, Known[]][]} */
const GROUPS = [
  ["Strength", [
    chart("Score against opponents", [["score/*", "*"]],
      "The share of points in evaluation games; a draw is half a point. Higher is better."),
  ]],
  ["Stages", [
    chart("Error of a stage", [["stage/sigma", "error"]],
      "How far the values of a stage are from its labels, in discs (root mean square). Lower is better."),
    chart("Right signs", [["stage/right", "right"]],
      "How often a stage knows who wins: the share of its boards with the right sign. 1 is best."),
    chart("Change of value", [["stage/error", "change"]],
      "How much the value of a position differs from that two moves later, in discs. Lower is better."),
    chart("Error of the patterns", [["pattern_error/*", "*"]],
      "Mean error in discs, on boards of training and on held-out boards by empty squares. Lower is "
        + "better; held-out errors far above those of training mean overfitting."),
    chart("Error of the net", [["ntuple_error/*", "*"]],
      "Mean error in discs, on boards of training and on held-out boards by empty squares. Lower is "
        + "better; held-out errors far above those of training mean overfitting."),
    chart("Discs of the stage", [["stage/discs", "discs"]],
      "How many discs lie on the boards of a stage. Training begins with the end of the game."),
    chart("Round", [["stage/round", "round"]],
      "Each round learns from games that the round before has made better."),
    chart("Fits of a stage", [["stage/rounds", "fits"]],
      "How often a stage was fitted until its values settled."),
    chart("Seconds for a stage", [["stage/seconds", "seconds"]],
      "How long each stage took."),
  ]],
  ["Learning", [
    chart("Losses", ["policy", "value", "score", "owner"].map((word) => [`loss/${word}`, word]),
      "What the net gets wrong on its own games, by what it predicts. They should fall, fast at first."),
    chart("Total loss", [["loss/total", "total"]],
      "The weighted sum of the losses: what training makes small. Lower is better."),
    chart("Losses on held-out games", [["held_out/policy_loss", "policy"], ["held_out/value_loss", "value"]],
      "The same on games that were never trained on. If they rise while the losses above fall, the net "
        + "learns by heart."),
    chart("Value error on held-out games", [["held_out/value_error", "error"]],
      "How far the expected result is from the real one, as a root mean square. Lower is better."),
    chart("Net and search agree", [["policy/agreement", "agreement"]],
      "How often the net alone prefers the move that the search prefers. Higher is better."),
    chart("Entropy of the policy", [["policy/entropy", "net"], ["policy/target_entropy", "search"]],
      "How undecided net and search are between moves, in nats; 0 is certain. The net should come close "
        + "to the search."),
    chart("Learning rate", [["learner/rate", "rate"]],
      "The size of the training steps. It falls towards the end of a run."),
    chart("Training steps", [["learner/steps", "steps"]],
      "Steps so far. A bend means that training became faster or slower."),
  ]],
  ["Speed", [
    chart("Games per second", [["speed/games_per_second", "games/s"]],
      "Games of self-play. A fall may mean longer searches or a busy machine."),
    chart("Positions per second", [["speed/positions_per_second", "positions/s"]],
      "New positions to learn from. Higher is better."),
    chart("Simulations per second", [["speed/simulations_per_second", "simulations/s"]],
      "Steps of the search in self-play. Higher is better."),
    chart("Evaluations per second", [["speed/evaluations_per_second", "evaluations/s"]],
      "Positions that the net values in self-play. Higher is better."),
    chart("Share of time spent waiting", [["wait/actors", "actors"], ["wait/learner", "learner"]],
      "Actors wait for the learner, or the learner waits for games. Near 0 for both is best."),
    chart("Workers", [["workers/count", "workers"]],
      "Workers on other machines that have reported in the last 15 seconds."),
  ]],
  ["Replay", [
    chart("Replay window, positions", [["replay/positions", "window"]],
      "How many positions training draws from. It grows to its limit and stays there."),
    chart("Replay window, bytes", [["replay/bytes", "bytes"]],
      "The memory of the window."),
    chart("Age of the samples", [["replay/mean_age", "positions"]],
      "How many positions are newer than the mean sample of a batch. Lower means fresher games."),
    chart("Samples per position", [["replay/ratio", "samples"]],
      "How often a position is trained on. Too high a number makes the net learn by heart."),
  ]],
  ["Games", [
    chart("Length of games", [["games/length", "moves"]],
      "Moves in a game."),
    chart("Passes in a game", [["games/passes", "passes"]],
      "Passes in a game of self-play."),
    chart("Draws", [["games/draws", "draws"]],
      "The share of draws, from 0 to 1."),
    chart("Black's points", [["games/black_points", "points"]],
      "A win is 1, a draw a half. Near 0.5, neither colour has it easier."),
    chart("Black's disc difference", [["games/black_score", "discs"]],
      "The mean at the end of a game, for black. Near 0, neither colour has it easier."),
    chart("Solved moves in a game", [["games/solved_moves", "moves"]],
      "Moves whose exact score the solver has found."),
  ]],
];

const OTHERS = "Other curves";

/** The text that `*` stands for, or `null` if the name does not fit. @returns {?string} */
function fitting(pattern, name) {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\/]/g, "\\$&"));
  const found = new RegExp(`^${parts.join("(.+)")}$`).exec(name);
  return found && (found[1] ?? "");
}

/** @param {Known} chart @param {string[]} names @returns {[string, string][]} */
function metricsOf({ curves }, names) {
  return curves.flatMap(([pattern, word]) => names.flatMap((name) => {
    const text = fitting(pattern, name);
    return text === null ? [] : [[name, word === "*" ? text.replaceAll("_", " ") : word]];
  }));
}

/**
 * The charts of some curves. With `isSplit` each curve has a chart of its own, which several runs share.
 * @param {string[]} names the names of the curves that the runs have written
 * @returns {ChartPlan[]}
 */
export function chartsOf(names, isSplit) {
  const shown = new Set(names.filter((name) => ELSEWHERE.some((pattern) => fitting(pattern, name) !== null)));
  const plans = GROUPS.flatMap(([group, charts]) => charts.flatMap((chart) => {
    const metrics = metricsOf(chart, names);
    for (const [name] of metrics) shown.add(name);
    const { title, about } = chart;
    if (!isSplit || metrics.length < 2) return metrics.length ? [{ group, title, about, metrics }] : [];
    return metrics.map((metric) => ({ group, title: `${title}: ${metric[1]}`, about, metrics: [metric] }));
  }));
  const others = names.filter((name) => !shown.has(name));
  return [...plans, ...others.map((name) => ({ group: OTHERS, title: name, about: "", metrics: [[name, name]] }))];
}
