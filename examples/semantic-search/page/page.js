/*
 * The page: what is typed becomes a vector here, the engine in the Web Worker finds documents near it, and with its words.
 */

import { startCanter } from "./canter-browser.js";
import { Meanings, question } from "./meaning.js";

const form = document.querySelector("form");
const status = document.querySelector("#status");
const hits = document.querySelector("#hits");
let asked = 0;

async function search(canter, meanings) {
  const { text, way } = Object.fromEntries(new FormData(form));
  const own = (asked += 1);
  if (text.trim() === "") {
    status.textContent = "";
    return hits.replaceChildren();
  }
  const body = question(text, meanings.vectorOf(text), way);
  const { response, report } = await canter.handle({
    method: "POST",
    path: "/words/_search",
    query: "",
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
  // A later question may have been answered before.
  if (own !== asked) return undefined;
  const answer = JSON.parse(new TextDecoder().decode(response.body));
  if (response.status !== 200) {
    status.textContent = answer.error?.reason ?? `status ${response.status}`;
    return hits.replaceChildren();
  }
  status.textContent = `${report.num_requests} requests, ${Math.round(report.num_bytes / 1000)} KB`;
  return hits.replaceChildren(...answer.hits.hits.map(({ _source }) => shown(_source)));
}

function shown({ words, part, gloss }) {
  const item = document.createElement("li");
  const [name, kind, meaning] = ["b", "i", "div"].map((tag) => document.createElement(tag));
  name.textContent = words.join(", ");
  kind.textContent = part;
  meaning.textContent = gloss;
  item.append(name, kind, meaning);
  return item;
}

async function main() {
  const worker = new Worker("canter-worker.js", { type: "module" });
  const [meanings, canter] = await Promise.all([
    Meanings.load(new URL("data/", location.href)),
    startCanter(worker, { indexes: { words: "index/" }, guestUrl: "guest/" }),
  ]);
  status.textContent = "";
  const again = () => search(canter, meanings).catch(failed);
  let timer;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(again, 200);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    again();
  });
  document.body.dataset.ready = "true";
  again();
}

function failed(error) {
  status.textContent = `The search failed: ${error instanceof Error ? error.message : error}`;
}

main().catch(failed);
