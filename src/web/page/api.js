// The server's interface. Every error becomes an `Error` with one clear sentence.

import { t } from "./texts.js";

/**
 * @typedef {{board: string, goal: string, start?: string, moves: string}} Game
 * @typedef {{discs: string, side: Side, legal: string[], move?: string, mover?: Side,
 *   flipped?: string[], passed?: Side, black: number, white: number, opening?: string}} Ply
 * @typedef {Game & {plies: Ply[], over: boolean, score?: number}} Line
 * @typedef {"black"|"white"} Side
 * @typedef {{move: string, line: string[], win: ?number, score: ?number,
 *   bound: "estimated"|"at-most"|"at-least"|"exact", depth: ?number, visits?: ?number,
 *   policy?: ?number, source?: string}} Hint
 * @typedef {{hints: Hint[], nodes: number, seconds: number, done: boolean, answers_from?: number,
 *   isReview?: boolean}} Advice
 * @typedef {{name: string, width: number, squares: [string, number][]}} BoardShape
 * @typedef {{id: string, word: string, about: string, rating: ?number, opinion: boolean,
 *   net: boolean, answers_from: ?number}} Player
 */

/** The text of an error's answer: what is wrong, where, and what is allowed. */
async function failure(response) {
  let text = t("server.status", { status: response.status });
  let found = {};
  try {
    found = await response.json();
    text = found.error ?? text;
    if (found.field && !text.includes(found.field)) text = `${found.field}: ${text}`;
    if (found.allowed) text = t("server.allowed", { problem: text, allowed: found.allowed });
  } catch { /* no JSON: the status must do */ }
  return Object.assign(new Error(text), { status: response.status, answer: found });
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(t("server.silent"));
  }
  if (!response.ok) throw await failure(response);
  return response;
}

const json = (value, signal) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(value),
  signal,
});

/** Gets JSON. */
export async function get(path, signal) {
  return (await ask(path, { signal })).json();
}

/** The file with which the server was started. @param {string} name */
export async function getFile(name) {
  return new File([await (await ask("/api/file", {})).blob()], name);
}

/** Sends a JSON value and gets one back. */
export async function post(path, value, signal) {
  return (await ask(path, json(value, signal))).json();
}

/** Removes what an address names. */
export async function remove(path) {
  await ask(path, { method: "DELETE" });
}

/** Sends text or a file as it is, and gets JSON back. */
export async function send(path, body) {
  const headers = { "Content-Type": "application/octet-stream" };
  return (await ask(path, { method: "POST", headers, body })).json();
}

/**
 * Sends a JSON value and reads a stream of events (text/event-stream) until it ends. When `signal`
 * aborts, the server ends its search.
 * @param {(kind: string, data: any) => void} onevent
 */
export async function stream(path, value, signal, onevent) {
  const response = await ask(path, json(value, signal));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventParser(onevent);
  for (;;) {
    const { done, value: text } = await reader.read();
    if (done) return;
    parser.take(text);
  }
}

/** Cuts a text/event-stream into events. `EventSource` cannot send a body, so it is of no use here. */
class EventParser {
  #rest = "";
  #onevent;

  constructor(onevent) {
    this.#onevent = onevent;
  }

  take(text) {
    const blocks = (this.#rest + text).split(/\r?\n\r?\n/);
    this.#rest = blocks.pop();
    for (const block of blocks) this.#block(block);
  }

  #block(block) {
    let kind = "message";
    const data = [];
    for (const line of block.split(/\r?\n/)) {
      const [, field, value] = /^([a-z]*): ?(.*)$/.exec(line) ?? [];
      if (field === "event") kind = value;
      if (field === "data") data.push(value);
    }
    // A block without data is a comment that keeps the connection alive.
    if (data.length === 0) return;
    const found = JSON.parse(data.join("\n"));
    if (kind === "failed") throw new Error(found.error ?? t("server.failed"));
    this.#onevent(kind, found);
  }
}

/** A controller of one request at a time: a new one ends the one before. */
export class Latest {
  #controller = new AbortController();

  /** The signal of a new request. */
  begin() {
    this.end();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  end() {
    this.#controller.abort();
  }
}
