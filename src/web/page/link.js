// Links that hold a game and the ply that is shown. All of it stands behind the `#` of the address, which
// a browser never sends. A check number tells a link that was cut or changed on its way.

import { t } from "./texts.js";

/** The longest link that is read. The server takes no longer game. */
const LONGEST = 3000;
const FIELDS = ["board", "goal", "start", "moves", "ply"];

/** A number of the fields as a short text (FNV-1a). It finds accidents, and proves nothing. */
export function checkOf(fields) {
  let hash = 0x811c9dc5;
  for (const unit of FIELDS.map((name) => fields[name] ?? "").join("|")) {
    hash = Math.imul(hash ^ unit.codePointAt(0), 0x01000193) >>> 0;
  }
  return hash.toString(36);
}

/** The address of what a tree shows. @param {import("./tree.js").Tree} tree */
export function linkOf(tree) {
  const fields = { ...tree.game(tree.line().at(-1)), ply: String(tree.current.depth) };
  const query = new URLSearchParams({ ...fields, check: checkOf(fields) });
  // The rest of the page's own address may have a secret.
  return `${location.origin}${location.pathname}#analyse?${query}`;
}

/**
 * What a link holds. The server checks the game itself.
 * @param {string} query @param {import("./api.js").BoardShape[]} boards
 * @returns {{game: import("./api.js").Game, ply: number}}
 */
export function readLink(query, boards) {
  const { check, ply, ...game } = Object.fromEntries(new URLSearchParams(query.slice(0, LONGEST)));
  const isWhole = check === checkOf({ ...game, ply }) && /^\d{1,3}$/.test(ply) && "moves" in game && "goal" in game;
  if (!isWhole) throw new Error(t("link.cut"));
  const { board, goal, start, moves } = game;
  if (!boards.some(({ name }) => name === board)) throw new Error(t("link.board", { board: String(board).slice(0, 20) }));
  return { game: { board, goal, ...(start ? { start } : {}), moves }, ply: Number(ply) };
}
