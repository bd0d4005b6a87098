// What the user has set for the whole page.

import { keep, recall } from "./storage.js";

/** The values of each setting, the usual one first. */
export const CHOICES = {
  language: ["auto", "en", "ja"],
  colours: ["auto", "light", "dark"],
  board: ["green", "blue", "wood", "slate", "contrast"],
  coordinates: ["on", "off"],
  sound: ["off", "on"],
};

const kept = recall("settings", {});

/** The value of each setting. Another version of the program may have kept values that are gone. */
export const settings = Object.fromEntries(Object.entries(CHOICES)
  .map(([name, values]) => [name, values.includes(kept[name]) ? kept[name] : values[0]]));

/** Changes a setting. Whether the browser keeps it for later visits. */
export function set(name, value) {
  settings[name] = value;
  return keep("settings", settings);
}
