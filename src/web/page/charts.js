// Which charts a run gets: a chart for every curve that the run writes. Known curves have a title, a
// group and a sentence; others are shown under their own name, so a new method needs nothing here.

/**
 * A chart. `curves` are patterns of names: `*` stands for any text, which becomes the curve's word.
 * @typedef {{title: string, about: string, curves: [string, string][]}} Known
 * @typedef {{group: string, title: string, about: string, metrics: [string, string][]}} ChartPlan
 */

/** Shown elsewhere: the rating has a chart of its own, and workers have a table. */
const ELSEWHERE = ["rating/net", "rating/error", "workers/*/*"];

/** By group, in the order of interest. @type {[string, Known[]][]} */
const GROUPS = [
  ["Strength", [
    { title: "Score against opponents", about: "The share of points in evaluation games; a draw is half a point. Higher is better.", curves: [["score/*", "*"]] },
  ]],
  ["Stages", [
    { title: "Error of a stage", about: "How far the values of a stage are from its labels, as a root mean square in discs. Lower is better.", curves: [["stage/sigma", "error"]] },
    { title: "Right signs", about: "How often a stage knows who wins: the share of its boards with the right sign. 1 is best.", curves: [["stage/right", "right"]] },
    { title: "Change of value", about: "How much the value of a position differs from that two moves later, in discs. Lower is better.", curves: [["stage/error", "change"]] },
    { title: "Error of the patterns", about: "Mean error in discs, on boards of training and on held-out boards by empty squares. Lower is better; held-out errors far above those of training mean overfitting.", curves: [["pattern_error/*", "*"]] },
    { title: "Error of the net", about: "Mean error in discs, on boards of training and on held-out boards by empty squares. Lower is better; held-out errors far above those of training mean overfitting.", curves: [["ntuple_error/*", "*"]] },
    { title: "Discs of the stage", about: "How many discs lie on the boards of a stage. Training goes from the end of the game towards its beginning.", curves: [["stage/discs", "discs"]] },
    { title: "Round", about: "Each round learns from games that the round before has made better.", curves: [["stage/round", "round"]] },
    { title: "Fits of a stage", about: "How often a stage was fitted until its values settled.", curves: [["stage/rounds", "fits"]] },
    { title: "Seconds for a stage", about: "How long each stage took.", curves: [["stage/seconds", "seconds"]] },
  ]],
  ["Learning", [
    { title: "Losses", about: "What the net gets wrong on its own games. They should fall; a value loss near that of guessing is normal in balanced games.", curves: [["loss/policy", "policy"], ["loss/value", "value"], ["loss/score", "score"], ["loss/owner", "owner"]] },
    { title: "Total loss", about: "The weighted sum of the losses: what training makes small. Lower is better.", curves: [["loss/total", "total"]] },
    { title: "Losses on held-out games", about: "The same on games that were never trained on. If they rise while the losses above fall, the net learns by heart.", curves: [["held_out/policy_loss", "policy"], ["held_out/value_loss", "value"]] },
    { title: "Value error on held-out games", about: "How far the expected result is from the real one, as a root mean square. Lower is better.", curves: [["held_out/value_error", "error"]] },
    { title: "Net and search agree", about: "How often the net alone prefers the move that the search prefers. Higher is better.", curves: [["policy/agreement", "agreement"]] },
    { title: "Entropy of the policy", about: "How undecided net and search are between moves, in nats; 0 is certain. The net should come close to the search.", curves: [["policy/entropy", "net"], ["policy/target_entropy", "search"]] },
    { title: "Learning rate", about: "The size of the training steps. It falls towards the end of a run.", curves: [["learner/rate", "rate"]] },
    { title: "Training steps", about: "Steps so far. A bend means that training became faster or slower.", curves: [["learner/steps", "steps"]] },
  ]],
  ["Speed", [
    { title: "Games per second", about: "Games of self-play. A fall may mean longer searches or a busy machine.", curves: [["speed/games_per_second", "games/s"]] },
    { title: "Positions per second", about: "New positions to learn from. Higher is better.", curves: [["speed/positions_per_second", "positions/s"]] },
    { title: "Simulations per second", about: "Steps of the search in self-play. Higher is better.", curves: [["speed/simulations_per_second", "simulations/s"]] },
    { title: "Evaluations per second", about: "Positions that the net values in self-play. Higher is better.", curves: [["speed/evaluations_per_second", "evaluations/s"]] },
    { title: "Share of time spent waiting", about: "Actors wait for the learner, or the learner waits for games. Near 0 for both is best.", curves: [["wait/actors", "actors"], ["wait/learner", "learner"]] },
    { title: "Workers", about: "Workers on other machines that have reported in the last 15 seconds.", curves: [["workers/count", "workers"]] },
  ]],
  ["Replay", [
    { title: "Replay window, positions", about: "How many positions training draws from. It grows to its limit and stays there.", curves: [["replay/positions", "window"]] },
    { title: "Replay window, bytes", about: "The memory of the window.", curves: [["replay/bytes", "bytes"]] },
    { title: "Age of the samples", about: "How many positions are newer than the mean sample of a batch. Lower means fresher games.", curves: [["replay/mean_age", "positions"]] },
    { title: "Samples per position", about: "How often a position is trained on. Too high a number makes the net learn by heart.", curves: [["replay/ratio", "samples"]] },
  ]],
  ["Games", [
    { title: "Length of games", about: "Moves in a game.", curves: [["games/length", "moves"]] },
    { title: "Passes in a game", about: "Passes in a game of self-play.", curves: [["games/passes", "passes"]] },
    { title: "Draws", about: "The share of draws, from 0 to 1.", curves: [["games/draws", "draws"]] },
    { title: "Black's points", about: "A win is 1, a draw a half. Near 0.5, neither colour has it easier.", curves: [["games/black_points", "points"]] },
    { title: "Black's disc difference", about: "The mean at the end of a game, for black. Near 0, neither colour has it easier.", curves: [["games/black_score", "discs"]] },
    { title: "Solved moves in a game", about: "Moves whose exact score the solver has found.", curves: [["games/solved_moves", "moves"]] },
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
