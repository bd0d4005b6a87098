// The workers of a run on other machines, as a table.

import { h } from "./dom.js";
import { t } from "./texts.js";
import { short } from "./words.js";

const COLUMNS = [
  ["games_per_second", (value) => value.toFixed(1)],
  ["games", short],
  ["rejected", short],
  ["net_version", short],
  ["nets_behind", short],
  ["lag_seconds", (value) => t("time.seconds", { seconds: value.toFixed(1) })],
  ["unconfirmed", short],
];

/** The newest value of a curve, or null if the newest line has none: then the worker has left. */
const newest = (curves, name) => curves[name]?.at(-1) ?? null;

/**
 * @param {Object<string, (?number)[]>} curves
 * @param {string} title
 * @returns {?HTMLElement} null without workers
 */
export function workersTable(curves, title) {
  const names = Object.keys(curves).map((name) => /^workers\/(.+)\/games_per_second$/.exec(name)?.[1])
    .filter((name) => name && newest(curves, `workers/${name}/games_per_second`) !== null);
  if (!names.length) return null;
  const cell = (name, [key, word]) => {
    const value = newest(curves, `workers/${name}/${key}`);
    return h("td", {}, value === null ? "" : word(value));
  };
  return h("section", { class: "card workers" }, h("h2", {}, title),
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("workers.worker")), ...COLUMNS.map(([key]) => h("th", { scope: "col" }, t(`workers.${key}`))))),
      h("tbody", {}, ...names.map((name) => h("tr", {}, h("th", { scope: "row" }, name), ...COLUMNS.map((column) => cell(name, column)))))));
}
