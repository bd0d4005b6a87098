// The first moves of games. The turns and mirrors of a board under which its start is the same make one
// opening of several lines of moves.

/** The moves of a text; `null` if it is none. A half-written last move is left out. @returns {?string[]} */
export function parts(text) {
  const bare = text.toLowerCase().replace(/[\s,.;-]+/g, "");
  const found = /^((?:[a-j](?:10|[1-9]))*)[a-j]?$/.exec(bare);
  return found && (found[1].match(/[a-j]\d+/g) ?? []);
}

/**
 * The lines of moves that are the same opening; the first one is as given.
 * @param {string[]} moves @param {import("./api.js").BoardShape} board @returns {string[]}
 */
export function turned(moves, { width, squares }) {
  const lines = [moves.join("")];
  // The start of a board with an odd width is not symmetric in this way.
  if (width % 2) return lines;
  const cellOf = new Map(squares);
  const nameOf = new Map(squares.map(([name, cell]) => [cell, name]));
  const last = width - 1;
  // The two diagonals keep the colours of the four discs of the start.
  const images = [(x, y) => [y, x], (x, y) => [last - y, last - x], (x, y) => [last - x, last - y]];
  for (const image of images) {
    const line = moves.map((move) => {
      const cell = cellOf.get(move) ?? -1;
      const [x, y] = image(cell % width, Math.floor(cell / width));
      return nameOf.get(y * width + x) ?? "?";
    });
    lines.push(line.join(""));
  }
  return lines;
}
