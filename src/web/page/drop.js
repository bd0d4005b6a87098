// The files of a drop, which may be folders.

import { t } from "./texts.js";

/** The most files of a drop. */
const MOST = 500;
/** Folders are looked through to this depth. */
const DEEPEST = 3;
/** In a folder other files are left out. */
const GAMES = /\.(wtb|jou|trn|ggf|obf|pgn|txt)$/i;

/** Whether files are dragged, not a selected text. */
export const hasFiles = (event) => event.dataTransfer?.types.includes("Files") ?? false;

/** All files of a drop. @param {DataTransfer} transfer @returns {Promise<File[]>} */
export async function filesOf({ items, files }) {
  // Both lists are empty as soon as the event is over.
  const plain = [...files];
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some(({ isDirectory }) => isDirectory)) return plain;
  const found = [];
  for (const entry of entries) await walk(entry, DEEPEST, found, true);
  return found;
}

async function walk(entry, depth, found, isNamed) {
  if (entry.isFile) {
    if (!isNamed && !GAMES.test(entry.name)) return;
    if (found.length >= MOST) throw new Error(t("drop.many", { most: MOST }));
    found.push(await new Promise((done, failed) => { entry.file(done, failed); }));
    return;
  }
  if (!depth) return;
  const inner = await entriesOf(entry.createReader());
  for (const next of inner.sort((a, b) => (a.name < b.name ? -1 : 1))) await walk(next, depth - 1, found, false);
}

/** The entries of a folder. A reader gives some at a time, and none at its end. */
async function entriesOf(reader) {
  const found = [];
  for (;;) {
    const some = await new Promise((done, failed) => { reader.readEntries(done, failed); });
    if (!some.length) return found;
    found.push(...some);
  }
}
