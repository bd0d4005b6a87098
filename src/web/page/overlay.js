// What lies over the squares of the board: values, visits, the net's policy, or who will own them.

import { t } from "./texts.js";
import { squareHints } from "./words.js";

/** @type {[string, string][]} */
export const OVERLAYS = ["values", "visits", "policy", "owner", "none"].map((kind) => [kind, t(`overlay.${kind}`)]);

/**
 * @param {string} kind an id of {@link OVERLAYS}
 * @param {import("./api.js").Hint[]} hints @param {import("./api.js").Side} side the side to move
 * @param {?{policy: [string, number][], owner?: [string, number][]}} glance the net's view, if known
 * @returns {{hints?: Map, shades?: Map}} as the board shows it
 */
export function overlay(kind, hints, side, glance) {
  switch (kind) {
    case "values":
      return { hints: squareHints(hints, side) };
    case "visits": {
      const total = hints.reduce((sum, { visits }) => sum + (visits ?? 0), 0);
      return { shades: shares(total ? hints.map(({ move, visits }) => [move, (visits ?? 0) / total]) : []) };
    }
    case "policy":
      return { shades: shares(glance?.policy ?? hints.filter(({ policy }) => policy).map(({ move, policy }) => [move, policy])) };
    case "owner":
      return { shades: new Map((glance?.owner ?? []).map(([square, black]) => [square, {
        kind: black > 0 ? "black" : "white", amount: Math.abs(black) * 0.75,
      }])) };
    default:
      return {};
  }
}

/** Shares from 0 to 1 as shades, with percents on the squares. */
export function shares(pairs) {
  const most = Math.max(0.01, ...pairs.map(([, share]) => share));
  return new Map(pairs.map(([square, share]) => [square, {
    kind: "more", amount: 0.75 * share / most, text: share >= 0.005 ? `${Math.round(share * 100)}%` : "",
  }]));
}
