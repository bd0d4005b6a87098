// Copies texts.

import { h } from "./dom.js";
import { t } from "./texts.js";

/** Puts a text on the clipboard. */
export async function putOnClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return;
  } catch {
    // A page over plain HTTP from another machine has no clipboard. The older command copies a selection.
  }
  const area = h("textarea", { readonly: true, class: "unseen" }, text);
  document.body.append(area);
  area.focus();
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (!isDone) throw new Error(t("copy.refused"));
}
