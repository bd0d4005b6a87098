// Makes elements. Texts always become text nodes, so no text from a file can become markup.

import { t } from "./texts.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of HTML. Attributes whose name begins with `on` are listeners; `false`, `null` and
 * `undefined` leave an attribute out.
 * @param {string} tag
 * @param {Object<string, any>} [attributes]
 * @param {...(Node|string|number|null|undefined|false)} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of SVG. See {@link h}. @returns {SVGElement} */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  const kept = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...kept.map((child) => (child instanceof Node ? child : String(child))));
  if (attributes.value !== undefined && element.tagName === "SELECT") element.value = attributes.value;
  return element;
}

/** A button with a word on it. The key that does the same is told to screen readers. */
export function button(word, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, word);
}

/**
 * A labelled choice.
 * @param {string} label
 * @param {[string, string][]} options values and words
 * @param {string} value the one chosen at first
 * @param {(value: string) => void} [onchange]
 */
export function choice(label, options, value, onchange) {
  const select = h("select", { onchange: () => onchange?.(select.value) },
    ...options.map(([id, word]) => h("option", { value: id }, word)));
  if (options.some(([id]) => id === value)) select.value = value;
  const element = h("label", { class: "field" }, h("span", {}, label), select);
  return {
    element,
    get value() { return select.value; },
    set value(id) { select.value = id; },
    /** Replaces the options; keeps the chosen one if it is still there. */
    offer(next, chosen = select.value) {
      select.replaceChildren(...next.map(([id, word]) => h("option", { value: id }, word)));
      if (next.some(([id]) => id === chosen)) select.value = chosen;
    },
  };
}

/**
 * A dialog with a title and a button that closes it.
 * @param {string} title
 * @param {...Node} children
 * @returns {HTMLDialogElement}
 */
export function dialog(title, ...children) {
  const box = h("dialog", { "aria-label": title },
    h("header", {}, h("h2", {}, title), button(t("dialog.close"), () => box.close(), { class: "quiet" })),
    ...children);
  // A click beside the box closes it. The box has no padding, so such a click hits the dialog itself.
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  return /** @type {HTMLDialogElement} */ (box);
}

const live = () => document.getElementById("live");

/** Tells screen readers what happened. */
export function announce(text) {
  live().textContent = text;
}

let noticeTimer = 0;

/** Shows a message for some seconds or until it is clicked, in a place that every view shares. */
export function notice(text, isError = false) {
  const box = document.getElementById("notice");
  box.textContent = text;
  box.classList.toggle("error", isError);
  box.hidden = false;
  box.onclick = () => { box.hidden = true; };
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { box.hidden = true; }, isError ? 9000 : 4000);
}

/** Shows an error, unless a request was ended on purpose. */
export function complain(error) {
  if (error?.name !== "AbortError") notice(error?.message ?? String(error), true);
}

/** Gives the user a file. */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
