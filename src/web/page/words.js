// Numbers and names in words, the same in every view.

/** @param {import("./api.js").Side} side */
export const sideWord = (side) => (side === "black" ? "Black" : "White");

/** @param {import("./api.js").Side} side */
export const other = (side) => (side === "black" ? "white" : "black");

/** A number with its sign and a true minus, such as `+2.4`, `−3`, `0`. */
export function signed(value, digits = 1) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return digits ? (0).toFixed(digits) : "0";
  return (value > 0 ? "+" : "−") + text;
}

/**
 * A hint's value for the side to move: proven scores and bounds as whole discs, estimates with one
 * digit, and the chance to win where a player has no score.
 * @param {import("./api.js").Hint} hint
 */
export function valueWord(hint) {
  const mark = { "at-most": "≤\u2009", "at-least": "≥\u2009" }[hint.bound] ?? "";
  const digits = hint.bound === "estimated" ? 1 : 0;
  if (hint.score !== null && hint.score !== undefined) return mark + signed(hint.score, digits);
  if (hint.win !== null && hint.win !== undefined) return `${Math.round(hint.win * 100)}%`;
  return "";
}

const SOURCES = {
  net: "net",
  alphabeta: "alpha-beta",
  rollouts: "rollouts",
  solver: "solver",
  policy: "net, no search",
  engine: "program",
  choice: "no search",
};

/** Where a hint's value comes from, and how deep it was searched. */
export function sourceWord(hint) {
  const source = SOURCES[hint.source] ?? hint.source ?? "";
  // At first no move was visited: the value is the net's own.
  const visits = hint.visits || null;
  if (hint.bound === "exact") return source ? `proven, ${source}` : "proven";
  if (visits !== null) return `${source} · ${short(visits)} visits`;
  if (hint.depth) return `${source || "search"} · depth ${hint.depth}`;
  return source;
}

/** The same in a table's cell: `net 194`, `alpha-beta 8`. */
export function sourceCell(hint) {
  const source = SOURCES[hint.source] ?? hint.source ?? "";
  if (hint.bound === "exact") return "proven";
  const much = hint.visits || hint.depth || null;
  return much === null ? source : `${source} ${short(much)}`;
}

/** Hints as the board shows them, the best first. @returns {Map<string, import("./board.js").SquareHint>} */
export function squareHints(hints) {
  return new Map(hints.map((hint, index) => [hint.move, {
    text: valueWord(hint), best: index === 0, note: hint.bound === "exact" ? "proven" : "",
  }]));
}

/** A count in few characters: `950`, `12.3k`, `4.5M`. */
export function short(value) {
  for (const [unit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= unit) return `${Number((value / unit).toPrecision(3))}${name}`;
  }
  return String(Number(value.toPrecision(3)));
}

/** A time in minutes and seconds, such as `4:05`. */
export function clockWord(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Minutes in words, such as `3 h 20 min`. */
export function minutesWord(minutes) {
  if (minutes < 1) return `${Math.round(minutes * 60)} s`;
  if (minutes < 60) return `${Number(minutes.toPrecision(2))} min`;
  return `${Math.floor(minutes / 60)} h ${Math.round(minutes % 60)} min`;
}

/** The result of a finished game. Empty squares go to the winner, so the score may exceed the discs. */
export function resultWord(line) {
  const last = line.plies.at(-1);
  if (line.score === 0) return `A draw, ${last.black}–${last.white}`;
  const [winner, discs] = line.score > 0
    ? ["Black", `${last.black}–${last.white}`] : ["White", `${last.white}–${last.black}`];
  return `${winner} wins ${discs}${line.goal === "fewest" ? " (fewest discs win)" : ""}`;
}
