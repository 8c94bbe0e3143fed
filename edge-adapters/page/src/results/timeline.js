/*
 * The timeline of a search. An engine in the browser tells of every request: a row for each, in waves. A server
 * tells how long each wave took: a row for each wave, one after the other, and one for the computing.
 */

import { html } from "../ui/dom.js";
import { bytes, counted, duration } from "../ui/format.js";

/** @import { Cost, StoreRequest, Wave } from "../api/cost.js" */

/** What classes of bytes are called. @type {Readonly<Record<string, string>>} */
const NAMES = {
  manifest: "manifest",
  head: "head",
  dictionary: "dictionary",
  postings: "postings",
  "fast-field": "columns",
  "doc-store": "documents",
};

/** @param {Cost} cost */
export function timeline(cost) {
  if (cost.numRequests === 0) {
    return html(
      "p",
      { class: "muted", id: "timeline" },
      "No request: everything came from the cache.",
    );
  }
  const isDetailed = cost.waves.some((wave) => wave.requests.length > 0);
  const rows = isDetailed ? requestRows(cost) : waveRows(cost);
  const end = endOf(cost);
  return html(
    "div",
    { class: "timeline", id: "timeline", role: "list", "aria-label": "Requests" },
    ...rows,
    html(
      "div",
      { class: "request scale", "aria-hidden": "true", role: "presentation" },
      html("span", {}),
      html(
        "span",
        { class: "track" },
        html("i", {}, "0"),
        html("i", {}, duration(end / 2)),
        html("i", {}, duration(end)),
      ),
      html("span", {}),
    ),
  );
}

/** @param {Cost} cost */
function endOf({ elapsedUs, waves }) {
  const ends = waves.flatMap((wave) => wave.requests.map((request) => request.endUs));
  return Math.max(elapsedUs, ...ends, 1);
}

/** @param {Cost} cost */
function requestRows(cost) {
  const end = endOf(cost);
  return cost.waves.flatMap((wave, ord) =>
    [...wave.requests]
      .sort((a, b) => a.startUs - b.startUs)
      .map((request, at) => requestRow(request, end, at === 0 ? `Wave ${ord + 1}` : "")),
  );
}

/** @param {StoreRequest} request @param {number} end @param {string} wave */
function requestRow({ object, offset, length, class: kind, startUs, endUs, error }, end, wave) {
  const name = NAMES[kind] ?? kind;
  const range = kind === "manifest" ? "" : ` from byte ${offset}`;
  const size = error === undefined ? (length === 0 ? "not changed" : bytes(length)) : "failed";
  const title = `${object}${range}, ${size}, ${duration(endUs - startUs)}${error === undefined ? "" : `: ${error}`}`;
  return row({
    title,
    wave,
    name: [html("b", {}, name), ` ${shortName(object)}`],
    bar: error === undefined ? `class-${kind}` : "failed",
    startUs,
    lengthUs: endUs - startUs,
    end,
    size,
  });
}

/** @param {Cost} cost */
function waveRows(cost) {
  const end = endOf(cost);
  const network = cost.waves.reduce((sum, wave) => sum + wave.us, 0);
  // What is not the network is before, between and behind the waves; the server does not say how much of it where.
  const between = Math.max(0, cost.elapsedUs - network) / (cost.waves.length + 1);
  let at = 0;
  const rows = cost.waves.map((/** @type {Wave} */ wave, ord) => {
    at += between;
    const startUs = at;
    at += wave.us;
    const text = `${counted(wave.numRequests, "request")}, ${duration(wave.us)}`;
    return row({
      title: `Wave ${ord + 1}: ${text}`,
      wave: "",
      name: [html("b", {}, `Wave ${ord + 1}`), ` ${counted(wave.numRequests, "request")}`],
      bar: "class-wave",
      startUs,
      lengthUs: wave.us,
      end,
      size: duration(wave.us),
    });
  });
  rows.push(
    row({
      title: `Computing: ${duration(cost.guestUs)} altogether`,
      wave: "",
      name: [html("b", {}, "Computing"), " before, between and after"],
      bar: "class-guest",
      startUs: 0,
      lengthUs: cost.elapsedUs,
      end,
      size: duration(cost.guestUs),
    }),
  );
  return rows;
}

/**
 * @param {{ title: string, wave: string, name: (Node | string)[], bar: string, startUs: number, lengthUs: number,
 *   end: number, size: string }} options
 */
function row({ title, wave, name, bar, startUs, lengthUs, end, size }) {
  const line = html("i", { class: `bar-line ${bar}` });
  line.style.left = `${(100 * startUs) / end}%`;
  line.style.width = `${Math.max((100 * lengthUs) / end, 0.5)}%`;
  return html(
    "div",
    { class: `request ${wave === "" ? "" : "first"}`, role: "listitem", title },
    html(
      "span",
      { class: "what" },
      wave === "" ? null : html("span", { class: "wave" }, wave),
      ...name,
    ),
    html("span", { class: "track", "aria-hidden": "true" }, line),
    html("span", { class: "size" }, size),
  );
}

/** `logs/splits/97869412….split` → `split 978694` @param {string} object */
function shortName(object) {
  const split = /splits\/([0-9a-f]{6})/.exec(object)?.[1];
  return split === undefined ? "" : `split ${split}`;
}
