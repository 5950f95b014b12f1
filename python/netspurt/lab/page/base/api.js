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

export const seeds = async (request, signal) => unpack(await (await post("seeds", request, signal)).arrayBuffer());

// The report of some sides as { text, name }.
export async function report(sides, count) {
  const answer = await post("report", { sides, seeds: count });
  const name = /filename\*=UTF-8''(.+)$/.exec(answer.headers.get("content-disposition"))?.[1];
  return { text: await answer.text(), name: decodeURIComponent(name ?? "report.html") };
}

export const capture = async (request, signal) => unpack(await (await post("capture/connection", request, signal)).arrayBuffer());

// Copies a file to the server: fetch cannot tell how much of it has been sent.
export function upload(file, moved, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `api/captures?name=${encodeURIComponent(file.name)}`);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => moved(loaded, total);
    request.onload = () => (request.status === 200 ? resolve(request.response)
      : reject(new Wrong(request.response?.error ?? { message: `The lab answered with status ${request.status}.` }, request.status)));
    request.onerror = () => reject(new Wrong({ message: "The lab does not answer, or refuses this file: check that 'netspurt lab' is still running." }, 0));
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

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
