// Numbers and names in words, the same in every view.

import { hasText, language, t } from "./texts.js";

/** @param {import("./api.js").Side} side */
export const sideWord = (side) => t(`side.${side}`);

/** The same within a sentence. @param {import("./api.js").Side} side */
export const lowWord = (side) => t(`low.${side}`);

/** The name of an opening, in the page's language if it has one there. @param {{opening?: string, opening_ja?: string}} of */
export const openingWord = ({ opening, opening_ja: japanese }) => (language === "ja" && japanese) || opening;

/** @param {import("./api.js").Side} side */
export const other = (side) => (side === "black" ? "white" : "black");

/** A number with its sign and a true minus, such as `+2.4`, `−3`, `0`. */
export function signed(value, digits = 1) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return digits ? (0).toFixed(digits) : "0";
  return (value > 0 ? "+" : "−") + text;
}

/** How to read values. The page has one view everywhere, so that a number means one thing. */
export const VIEW = t("words.view");

/**
 * A hint with its values for black. The server gives them for the side to move.
 * @param {import("./api.js").Hint} hint @param {import("./api.js").Side} side the side to move
 */
export function forBlack(hint, side) {
  const score = hint.score ?? null;
  const win = hint.win ?? null;
  if (side === "black") return { ...hint, score, win };
  return {
    ...hint, score: score === null ? null : -score, win: win === null ? null : 1 - win,
    bound: { "at-most": "at-least", "at-least": "at-most" }[hint.bound] ?? hint.bound,
  };
}

/**
 * A hint's value for black: proven scores and bounds as whole discs, estimates with one digit, and the
 * chance to win where a player has no score. A value that few visits carry has no digit and brackets.
 * @param {import("./api.js").Hint} hint @param {import("./api.js").Side} side the side to move
 */
export function valueWord(hint, side, isThin = false) {
  const { score, win, bound } = forBlack(hint, side);
  const mark = { "at-most": "≤\u2009", "at-least": "≥\u2009" }[bound] ?? "";
  const digits = bound === "estimated" && !isThin ? 1 : 0;
  const word = score !== null ? mark + signed(score, digits) : win !== null ? `${Math.round(win * 100)}%` : "";
  return isThin && word ? `(${word})` : word;
}

/** A value is sound with at least this share of the visits that the most searched move has. */
const SOUND = 0.2;

const mostVisits = (hints) => Math.max(0, ...hints.map(({ visits }) => visits ?? 0));

/** Whether a move was searched so little that its value means little. */
export function isThin(hint, hints) {
  return hint !== hints[0] && hint.bound === "estimated" && (hint.visits ?? Infinity) < SOUND * mostVisits(hints);
}

/**
 * Hints in the order in which every view lists them: the player's move, then the others by visits. A
 * search without visits has ordered them by value.
 * @param {import("./api.js").Advice} advice
 */
export function ranked(advice) {
  const [best, ...others] = advice.hints;
  if (!others.some(({ visits }) => visits)) return advice;
  const isProven = best.bound === "exact";
  const isExact = ({ bound }) => bound === "exact";
  const byScore = (a, b) => (isExact(a) && isExact(b) ? b.score - a.score : 0);
  const order = (a, b) => (isProven && (Number(isExact(b)) - Number(isExact(a)) || byScore(a, b)))
    || (b.visits ?? 0) - (a.visits ?? 0);
  return { ...advice, hints: [best, ...others.sort(order)] };
}

/** Why the first of some hints is the marked one, and what brackets mean if there are any. */
export function ruleWord(hints) {
  const [best] = hints;
  if (!best) return "";
  const brackets = hints.some((hint) => isThin(hint, hints)) && t("rule.brackets");
  const percents = hints.some(({ score, win }) => (score ?? null) === null && (win ?? null) !== null) && t("rule.percents");
  return [t("rule.marked", { mark: markWord(best, mostVisits(hints)) }), brackets, percents].filter(Boolean).join(" ");
}

/** Why there is no value. @param {?import("./api.js").Advice} advice */
export function nothingWord(advice) {
  if (!advice?.done) return t("advice.thinking");
  if (!advice.answers_from) return t("advice.nothing");
  return t("advice.early", { count: advice.answers_from });
}

function markWord({ bound, visits, source }, most) {
  if (bound === "exact") return t("mark.exact");
  if (visits === 0) return t("mark.prior");
  if (most) return visits === most ? t("mark.most") : t("mark.search");
  return ["policy", "choice"].includes(source) ? t(`mark.${source}`) : t("mark.best");
}

/** The word of a source. The server may know sources that this page does not. */
const sourceName = (source) => (hasText(`source.${source}`) ? t(`source.${source}`) : source ?? "");

/** Where a hint's value comes from, and how deep it was searched. */
export function sourceWord(hint) {
  const source = sourceName(hint.source);
  // At first no move was visited: the value is the net's own.
  const visits = hint.visits || null;
  if (hint.bound === "exact") return source ? t("source.proven", { source }) : t("words.proven");
  if (visits !== null) return t("source.visits", { source, count: short(visits) });
  if (hint.depth) return t("source.depth", { source: source || t("source.search"), count: hint.depth });
  return source;
}

/** The same in a table's cell: `net 194`, `alpha-beta 8`. */
export function sourceCell(hint) {
  const source = sourceName(hint.source);
  if (hint.bound === "exact") return t("words.proven");
  const much = hint.visits || hint.depth || null;
  return much === null ? source : `${source} ${short(much)}`;
}

/** Screen readers say so many moves of a line. */
const LINE = 6;

/**
 * Hints as the board shows them, the best first.
 * @param {import("./api.js").Side} side the side to move
 * @returns {Map<string, import("./board.js").SquareHint>}
 */
export function squareHints(hints, side) {
  return new Map(hints.map((hint, index) => {
    const thin = isThin(hint, hints);
    const note = hint.bound === "exact" ? t("words.proven") : "";
    return [hint.move, { text: valueWord(hint, side, thin), best: index === 0, thin, note, line: hint.line?.slice(0, LINE).join(" ") }];
  }));
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
  if (minutes < 1) return t("time.seconds", { seconds: Math.round(minutes * 60) });
  if (minutes < 60) return t("time.minutes", { minutes: Number(minutes.toPrecision(2)) });
  return t("time.hours", { hours: Math.floor(minutes / 60), minutes: Math.round(minutes % 60) });
}

/** The result of a finished game. Empty squares go to the winner, so the score may exceed the discs. */
export function resultWord(line) {
  const last = line.plies.at(-1);
  if (line.score === 0) return t("result.draw", { discs: `${last.black}–${last.white}` });
  const [winner, loser] = line.score > 0 ? ["black", "white"] : ["white", "black"];
  const result = t("result.wins", { winner: sideWord(winner), discs: `${last[winner]}–${last[loser]}` });
  return line.goal === "fewest" ? t("result.fewest", { result }) : result;
}

/** The word of a run's state. The server may know states that this page does not. */
export const stateWord = (state) => (hasText(`state.${state}`) ? t(`state.${state}`) : state);
