// How long an opinion is searched: as the player's own settings say, for a time, for a number of
// simulations, or to a depth. The choice is kept for later visits.

import { choice } from "./dom.js";
import { keep, recall } from "./storage.js";
import { t } from "./texts.js";

const SECONDS = [5, 30, 120, 300];
const SIMULATIONS = [1_000, 10_000, 100_000];
const DEPTHS = [8, 12, 16, 20];
/** The longest search without a limit of time, in seconds. */
const LONGEST = 300;

/** What a request for hints has for a limit; it is `own`, `s` with seconds, `n` with simulations, or `d` with a
 * depth. */
export function limitFields(limit) {
  const amount = Number(limit.slice(1));
  if (limit.startsWith("s")) return { endless: true, seconds: amount };
  if (limit.startsWith("d")) return { depth: amount, seconds: LONGEST };
  return limit.startsWith("n") ? { simulations: amount, seconds: LONGEST } : {};
}

/** The choice of a limit. @param {() => void} onchange */
export function limitChoice(onchange) {
  const options = [
    ["own", t("limit.own")],
    ...SECONDS.map((count) => [`s${count}`, count < 60 ? t("limit.seconds", { count }) : t("limit.minutes", { count: count / 60 })]),
    ...SIMULATIONS.map((count) => [`n${count}`, t("limit.simulations", { count: count.toLocaleString("en") })]),
    ...DEPTHS.map((count) => [`d${count}`, t("limit.depth", { count })]),
  ];
  return choice(t("limit.title"), options, recall("limit", { limit: "own" }).limit, (limit) => {
    keep("limit", { limit });
    onchange();
  });
}
