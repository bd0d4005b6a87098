// The list of moves with its branches, and the plain one of a game that is played.

import { button, h } from "./dom.js";
import { lossOf, lossWord } from "./losses.js";
import { t } from "./texts.js";
import { lowWord, openingWord, sideWord } from "./words.js";

/** Whether a side has to pass after a move. At the end of a game nobody moves. */
const isPass = (node) => Boolean(node.ply.passed) && !node.over;

/** The pass before a position, as lists of moves show it. */
const passWord = (ply) => t("moves.pass", { side: sideWord(ply.passed) });

const pass = (node) => (isPass(node) ? [" ", h("span", { class: `pass ${node.ply.passed}` }, passWord(node.ply))] : []);

/** A move as screen readers say it. */
const moveWord = ({ depth, move, ply }) => t("moves.move", { number: depth, side: lowWord(ply.mover), move });

/** The name of the opening, if the game is in one. */
const opening = (node) => (openingWord(node.ply) ? [h("p", { class: "soft opening" }, t("moves.opening", { name: openingWord(node.ply) }))] : []);

export class MoveList {
  #onchoose;
  element = h("div", { class: "branches", "aria-label": t("moves.title") });

  /** @param {(node: import("./tree.js").Node) => void} onchoose */
  constructor(onchoose) {
    this.#onchoose = onchoose;
  }

  /** @param {import("./tree.js").Tree} tree @param {string} player whose losses mark mistakes */
  show(tree, player) {
    this.element.replaceChildren(...opening(tree.current));
    if (!tree.root.children.length) this.element.append(h("p", { class: "soft" }, t("moves.none")));
    this.#line(tree.root, this.element, tree.current, player);
    const here = this.element.querySelector("[aria-current]");
    // Only the list scrolls: `scrollIntoView` would move the page.
    if (here) this.element.scrollTop = here.offsetTop - this.element.offsetTop - this.element.clientHeight / 2;
  }

  /** A line of moves. Its branches stand below the move that they replace. */
  #line(from, box, current, player) {
    let line = h("div", {});
    box.append(line);
    for (let at = from; at.children.length;) {
      const [main, ...branches] = at.children;
      line.append(this.#move(main, current, player), ...pass(main), " ");
      for (const branch of branches) {
        const inner = h("div", { class: "branch" });
        inner.append(this.#move(branch, current, player), ...pass(branch));
        box.append(inner);
        this.#line(branch, inner, current, player);
      }
      if (branches.length) {
        line = h("div", {});
        box.append(line);
      }
      at = main;
    }
  }

  #move(node, current, player) {
    const loss = lossOf(node, player);
    const bad = loss?.isMistake;
    return button(`${node.depth}. ${node.move}`, () => this.#onchoose(node), {
      class: `move ${node.ply.mover}${bad ? " bad" : ""}`,
      "aria-current": node === current ? "true" : false,
      "aria-label": bad ? t("moves.mistake", { move: moveWord(node), loss: lossWord(loss) }) : moveWord(node),
      title: loss ? t("moves.loss", { side: lowWord(node.ply.mover), loss: lossWord(loss) }) : lowWord(node.ply.mover),
    });
  }
}

/**
 * Shows the moves of a main line in a list.
 * @param {HTMLElement} list @param {import("./tree.js").Tree} tree
 * @param {(node: import("./tree.js").Node) => void} onchoose
 */
export function showSheet(list, tree, onchoose) {
  const rows = tree.mainLine().slice(1).flatMap((node) => [h("li", {},
    button(`${node.depth}. ${node.move}`, () => { onchoose(node); }, {
      class: `move ${node.ply.mover}`, "aria-current": node === tree.current ? "true" : false,
      "aria-label": moveWord(node),
    })), isPass(node) && h("li", { class: `pass ${node.ply.passed}` }, passWord(node.ply))]).filter(Boolean);
  list.replaceChildren(...opening(tree.current).map((name) => h("li", { class: "opening" }, name)), ...rows);
  // Only the list may scroll: `scrollIntoView` would move the page on a phone.
  const here = list.querySelector("[aria-current]");
  if (here) list.scrollTop = here.offsetTop - list.offsetTop - list.clientHeight / 2;
}
