// Requests to the server. Addresses are relative, so each contains the token.

import { unpack } from "./wire.js";

// An error from the server: `details` has message, and if known line, column and path.
export class Wrong extends Error {
  constructor(details, status) {
    super(details.message);
    this.details = details;
    this.status = status;
  }
}

async function post(what, body, signal) {
  let answer;
  try {
    answer = await fetch(`api/${what}`, body === undefined ? { signal } : {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Wrong({ message: "The lab does not answer: check that 'netspurt lab' is still running." }, 0);
  }
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  throw new Wrong(problem.error ?? { message: `The lab answered with status ${answer.status}.` }, answer.status);
}

export const shelf = async () => (await post("shelf")).json();
export const scenario = async (request) => (await post("scenario", request)).json();
export const run = async (request, signal) => unpack(await (await post("run", request, signal)).arrayBuffer());

// Server-sent events as they arrive: calls `handle(event, data)` for each.
export async function follow(what, request, handle, signal) {
  const reader = (await post(what, request, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split("\n");
      const field = (name) => lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2)).join("\n");
      if (field("event")) handle(field("event"), JSON.parse(field("data")));
    }
  }
}
