// The texts of the page in the user's language. Every text that the page shows has a key here; only texts
// of the server (names of players, errors) and of files come as they are.

import { settings } from "./settings.js";
import enAnalyse from "./texts/en-analyse.js";
import enLibrary from "./texts/en-library.js";
import enWatch from "./texts/en-watch.js";
import en from "./texts/en.js";
import jaAnalyse from "./texts/ja-analyse.js";
import jaLibrary from "./texts/ja-library.js";
import jaWatch from "./texts/ja-watch.js";
import ja from "./texts/ja.js";

const TABLES = { en: { ...en, ...enAnalyse, ...enLibrary, ...enWatch }, ja: { ...ja, ...jaAnalyse, ...jaLibrary, ...jaWatch } };

/** The languages by their own names. */
export const LANGUAGES = { en: "English", ja: "日本語" };

/** The page's language: as set, as the address says (`?lang=ja`), or as the browser prefers. */
export const language = [settings.language, new URLSearchParams(location.search).get("lang"), ...navigator.languages.map((tag) => tag.slice(0, 2))]
  .find((tag) => Object.hasOwn(TABLES, tag)) ?? "en";

/**
 * The text of a key. `{name}` in it stands for a value. With a `count` of 1 the key with `.one` behind it
 * comes first, if the language has it.
 * @param {string} key
 * @param {Object<string, string|number>} [values]
 */
export function t(key, values = {}) {
  const table = TABLES[language];
  const text = (values.count === 1 && table[`${key}.one`]) || table[key] || key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}

/** Whether there is such a text: the server may know states and names that this page does not. */
export const hasText = (key) => Object.hasOwn(TABLES[language], key);
