/*
 * The list of hits: time, level, label, and the message with what was searched for marked in it.
 */

import { html } from "./dom.js";
import { timeOf, timestamp } from "./format.js";
import { levelClass } from "./levels.js";
import type { Found, Settings } from "./search.js";

/** Draws the hits into `place`. */
export function drawHits(
  place: HTMLElement,
  found: Found,
  settings: Settings,
  timestampField: string,
): void {
  const rows = found.hits.map((hit, ord) => {
    const level = text(hit, settings.levelField);
    const time = timeOf(field(hit, timestampField));
    const message = found.snippets[ord] ?? undefined;
    const shown = message === undefined ? [text(hit, settings.messageField)] : marked(message);
    const details = html(
      "details",
      {},
      html(
        "summary",
        {},
        // Without a time it keeps its column.
        time === undefined
          ? html("time")
          : html("time", { datetime: time.toISOString() }, timestamp(time)),
        html("span", { class: `level ${levelClass(level)}` }, level),
        html("span", { class: "label" }, text(hit, settings.labelField)),
        html("span", { class: "text" }, ...shown),
      ),
      html("pre", {}, JSON.stringify(hit, null, 2)),
    );
    return html("li", {}, details);
  });
  const none = html(
    "li",
    { class: "muted" },
    "Nothing matches. Try another word, or * for everything.",
  );
  place.replaceChildren(...(rows.length === 0 ? [none] : rows));
}

/** `resource.service` of `{resource: {service: "x"}}` */
function field(hit: Readonly<Record<string, unknown>>, path: string): unknown {
  let value: unknown = hit;
  for (const name of path.split("."))
    value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}

function text(hit: Readonly<Record<string, unknown>>, path: string): string {
  const value = field(hit, path);
  return value === undefined || value === null ? "" : String(value);
}

/**
 * A snippet is HTML with `<b>` around what was found. It is taken apart by the parser of a document that
 * is never shown, and only text and marks are put together again.
 */
function marked(snippet: string): Node[] {
  const parsed = new DOMParser().parseFromString(snippet, "text/html");
  return [...parsed.body.childNodes].map((node) => {
    const content = node.textContent ?? "";
    return node.nodeName === "B" ? html("mark", {}, content) : document.createTextNode(content);
  });
}
