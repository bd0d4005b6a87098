// How the page looks: light or dark, the colours of the board, and its coordinates. The sheet has them all.

import { settings } from "./settings.js";

const system = matchMedia("(prefers-color-scheme: dark)");

/** Makes the page look as the settings say. */
export function applyAppearance() {
  const root = document.documentElement;
  const isDark = settings.colours === "auto" ? system.matches : settings.colours === "dark";
  Object.assign(root.dataset, { theme: isDark ? "dark" : "light", board: settings.board, coordinates: settings.coordinates });
  // A phone colours its own bars with it.
  document.querySelector("meta[name=theme-color]").content = getComputedStyle(root).getPropertyValue("--paper").trim();
}

system.addEventListener("change", applyAppearance);
