// Games in and out: paste or open one, save the position as a picture or the game as text.

import { post, send } from "./api.js";
import { button, complain, dialog, download, h, notice } from "./dom.js";

const LARGEST = 4 << 20;

/**
 * A dialog that reads games from text or a file.
 * @param {() => {board: string, goal: string}} setup what to assume where the text does not say
 * @param {(game: any) => void} onopen
 */
export function pasteDialog(setup, onopen) {
  const text = h("textarea", {
    spellcheck: "false", "aria-label": "Game or position", id: "paste-text",
    placeholder: "f5d6c3d3c4 …, 64 characters, an OBF line, GGF, or a line of OthelloQuest",
  });
  const file = h("input", { type: "file", "aria-label": "A file of games" });
  const error = h("p", { class: "error", role: "alert" });
  const found = h("div", { class: "found" });
  const read = async (body) => {
    error.textContent = "";
    found.replaceChildren();
    const { board, goal } = setup();
    try {
      const answer = await send(`/api/paste?board=${board}&goal=${goal}`, body);
      if (answer.games.length === 1 && !answer.left_out) open(answer.games[0]);
      else list(answer);
    } catch (problem) {
      error.textContent = problem.message;
    }
  };
  const open = (game) => {
    box.close();
    onopen(game);
  };
  const list = ({ games, format, left_out: left }) => {
    const more = left ? ` ${left} more are not shown.` : "";
    found.replaceChildren(h("p", { class: "soft" }, `${games.length} games (${format}). Choose one.${more}`),
      ...games.map((game, index) => button(`${index + 1}. ${gameWord(game)}`, () => open(game))));
  };
  file.addEventListener("change", () => {
    const [chosen] = file.files;
    if (!chosen) return;
    if (chosen.size > LARGEST) error.textContent = "The file is too large; allowed: 4 MiB.";
    else read(chosen);
  });
  const box = dialog("Paste or open a game", h("form", {
    class: "fields",
    onsubmit: (event) => { event.preventDefault(); read(text.value); },
    ondragover: (event) => event.preventDefault(),
    ondrop: (event) => {
      event.preventDefault();
      const [dropped] = event.dataTransfer.files;
      if (dropped) read(dropped);
    },
  }, text, h("div", { class: "row" }, h("button", { class: "main" }, "Read"), file), error, found));
  return box;
}

function gameWord({ black, white, event, date, result, moves }) {
  const names = black || white ? `${black ?? "?"} – ${white ?? "?"}` : `${moves.slice(0, 20)}…`;
  const score = result === undefined || result === null ? "" : `, ${result > 0 ? "+" : ""}${result}`;
  return [`${names}${score}`, event, date].filter(Boolean).join(", ");
}

/**
 * A menu that saves what is shown.
 * @param {() => {game: import("./api.js").Game, names: {black?: string, white?: string},
 *   shape: import("./api.js").BoardShape, node: import("./tree.js").Node}} shown
 */
export function saveMenu(shown) {
  const menu = h("details", { class: "menu" }, h("summary", {}, "Save"));
  const save = (word, work) => button(word, async () => {
    menu.open = false;
    try {
      await work(shown());
    } catch (error) {
      complain(error);
    }
  });
  const write = (format) => async ({ game, names }) => {
    const { text, file } = await post("/api/export", { ...game, ...names, format });
    download(new Blob([text], { type: "text/plain" }), file);
  };
  const copy = async ({ game }) => {
    const { text } = await post("/api/export", { ...game, format: "transcript" });
    await navigator.clipboard.writeText(text.trim());
    notice("The transcript is on the clipboard.");
  };
  menu.append(h("div", {}, save("Picture (PNG)", picture), save("Copy the transcript", copy),
    save("Transcript", write("transcript")), save("GGF", write("ggf")), save("Position (OBF)", write("obf"))));
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  return menu;
}

const CELL = 80;
const EDGE = 36;

/** Draws the position on a canvas. The board's SVG has its colours in the sheet, which a picture lacks. */
async function picture({ shape, node }) {
  const rows = Math.floor(Math.max(...shape.squares.map(([, cell]) => cell)) / shape.width) + 1;
  const canvas = h("canvas", { width: shape.width * CELL + 2 * EDGE, height: rows * CELL + 2 * EDGE });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#f6f5f1";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = "18px system-ui, sans-serif";
  shape.squares.forEach(([name, cell], index) => {
    const [column, row] = [cell % shape.width, Math.floor(cell / shape.width)];
    const [x, y] = [EDGE + column * CELL, EDGE + row * CELL];
    pen.fillStyle = "#2b7a51";
    pen.strokeStyle = "#1c5a3a";
    pen.fillRect(x, y, CELL, CELL);
    pen.strokeRect(x, y, CELL, CELL);
    drawDisc(pen, x + CELL / 2, y + CELL / 2, node.ply.discs[index], name === node.move);
    pen.fillStyle = "#5c6661";
    pen.fillText(name[0], x + CELL / 2, EDGE / 2);
    pen.fillText(name.slice(1), EDGE / 2, y + CELL / 2);
  });
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  download(blob, `outflank-${node.depth}.png`);
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
