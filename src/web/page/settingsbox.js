// The dialog of the settings. Each takes effect at once; a language takes a new start of the page.

import { applyAppearance } from "./appearance.js";
import { choice, dialog, h } from "./dom.js";
import { CHOICES, set, settings } from "./settings.js";
import { click } from "./sound.js";
import { LANGUAGES, t } from "./texts.js";

const word = (name, value) => (name === "language" && LANGUAGES[value]) || t(`settings.${name}.${value}`);

/** @type {Object<string, (value: string, isKept: boolean) => void>} */
const EFFECTS = {
  language: (value, isKept) => {
    // Where nothing is kept, the address has to carry the language.
    if (isKept) location.reload();
    else location.search = value === "auto" ? "" : `?lang=${value}`;
  },
  sound: click,
};

/** The dialog, which stands beside all views. @returns {HTMLDialogElement} */
export function settingsBox() {
  const fields = Object.keys(CHOICES).map((name) => choice(t(`settings.${name}`), CHOICES[name].map((value) => [value, word(name, value)]),
    settings[name], (value) => {
      const isKept = set(name, value);
      applyAppearance();
      EFFECTS[name]?.(value, isKept);
    }).element);
  return dialog(t("settings.title"), h("div", { class: "fields" }, ...fields));
}
