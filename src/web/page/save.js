// Games out: save the position as a picture, or the game as text.

import { post } from "./api.js";
import { putOnClipboard } from "./clipboard.js";
import { button, complain, download, h, notice } from "./dom.js";
import { valueOf } from "./losses.js";
import { settings } from "./settings.js";
import { t } from "./texts.js";
import { VIEW, squareHints } from "./words.js";

/**
 * What can be saved: a tree, who has played it, and the player whose values go with its moves.
 * @typedef {{tree: import("./tree.js").Tree, names: {black?: string, white?: string}, player: string,
 *   shape: import("./api.js").BoardShape}} Shown
 */

/**
 * A menu that saves what is shown.
 * @param {() => Shown} shown
 */
export function saveMenu(shown) {
  const list = h("div", {});
  const menu = h("details", { class: "menu" },
    h("summary", { onclick: () => list.replaceChildren(...entries()) }, t("save.title")), list);
  const save = (word, work) => button(word, async () => {
    menu.open = false;
    try {
      await work(shown());
    } catch (error) {
      complain(error);
    }
  });
  const entries = () => {
    const { tree, player } = shown();
    const end = tree.line().at(-1);
    const game = (to, which) => [
      save(t("save.copy", { which }), copy(to)), save(t("save.text", { which }), write("transcript", to)), save(t("save.ggf", { which }), write("ggf", to)),
    ];
    return [
      ...game(end, t("save.whole", { count: end.depth })),
      ...(tree.current === end ? [] : game(tree.current, t("save.part", { count: tree.current.depth }))),
      save(t("save.position"), write("obf", tree.current)), save(t("save.picture"), picture(false)),
      ...(tree.current.advice.get(player)?.hints.length ? [save(t("save.values"), picture(true))] : []),
    ];
  };
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  return menu;
}

/** Saves the game up to a node in a format. */
const write = (format, to) => async ({ tree, names: { black, white }, player }) => {
  const { text, file } = await post("/api/export", { ...tree.game(to), black, white, values: valuesOf(tree.path(to), player), format });
  download(new Blob([text], { type: "text/plain" }), file);
};

/** After each move its value for the side that made it, in discs; `null` where it is not known. */
function valuesOf(path, player) {
  return path.slice(1).map((node) => {
    const score = valueOf(node, player)?.score ?? null;
    return score === null || node.ply.mover === "black" ? score : -score;
  });
}

const copy = (to) => async ({ tree }) => {
  const { text } = await post("/api/export", { ...tree.game(to), format: "transcript" });
  await putOnClipboard(text.trim());
  notice(t("save.copied", { count: to.depth }));
};

const CELL = 80;
const EDGE = 36;

/**
 * Draws the position on a canvas, as the settings say. The board's SVG has its colours in the sheet, which a
 * picture lacks. @param {boolean} hasValues whether the values of the moves are in it
 */
const picture = (hasValues) => async ({ shape, player, tree: { current: node } }) => {
  const rows = Math.floor(Math.max(...shape.squares.map(([, cell]) => cell)) / shape.width) + 1;
  const canvas = h("canvas", { width: shape.width * CELL + 2 * EDGE, height: rows * CELL + 2 * EDGE });
  const pen = canvas.getContext("2d");
  const sheet = getComputedStyle(document.documentElement);
  const colour = (name) => sheet.getPropertyValue(name).trim();
  const values = hasValues ? squareHints(node.advice.get(player)?.hints ?? [], node.ply.side) : new Map();
  pen.fillStyle = colour("--paper");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  shape.squares.forEach(([name, cell], index) => {
    const [column, row] = [cell % shape.width, Math.floor(cell / shape.width)];
    const [x, y] = [EDGE + column * CELL, EDGE + row * CELL];
    const [middle, centre] = [x + CELL / 2, y + CELL / 2];
    pen.fillStyle = colour("--felt");
    pen.strokeStyle = colour("--felt-line");
    pen.lineWidth = 2;
    pen.fillRect(x, y, CELL, CELL);
    pen.strokeRect(x, y, CELL, CELL);
    drawDisc(pen, middle, centre, node.ply.discs[index], name === node.move);
    drawValue(pen, middle, centre, values.get(name));
    if (settings.coordinates === "off") return;
    pen.font = "18px system-ui, sans-serif";
    pen.fillStyle = colour("--soft");
    pen.fillText(name[0], middle, EDGE / 2);
    pen.fillText(name.slice(1), EDGE / 2, centre);
  });
  if (values.size) {
    pen.font = "15px system-ui, sans-serif";
    pen.fillStyle = colour("--soft");
    pen.fillText(VIEW, canvas.width / 2, canvas.height - EDGE / 2);
  }
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  download(blob, `outflank-${node.depth}${hasValues ? "-values" : ""}.png`);
};

/** @param {import("./board.js").SquareHint} [value] */
function drawValue(pen, x, y, value) {
  if (!value?.text) return;
  const write = (text, font, at) => {
    pen.font = `${font} system-ui, sans-serif`;
    pen.lineWidth = 4;
    pen.strokeStyle = "#0a2416";
    pen.fillStyle = value.best ? "#ffe899" : value.thin ? "#c3d2c9" : "#ffffff";
    pen.strokeText(text, x, at);
    pen.fillText(text, x, at);
  };
  if (value.best) {
    pen.strokeStyle = "#ffd95a";
    pen.lineWidth = 3;
    pen.strokeRect(x - CELL / 2 + 4, y - CELL / 2 + 4, CELL - 8, CELL - 8);
  }
  write(value.text, "600 21px", y);
  if (value.note) write(value.note, "14px", y + 22);
}

function drawDisc(pen, x, y, disc, isLast) {
  if (disc === "-") return;
  const circle = (radius, fill, stroke) => {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.strokeStyle = stroke;
    pen.fill();
    pen.stroke();
  };
  circle(CELL * 0.4, disc === "X" ? "#171b19" : "#f8f8f3", disc === "X" ? "#2f3733" : "#c9ccc3");
  if (isLast) circle(6, "#e0523b", "#ffffff");
}
