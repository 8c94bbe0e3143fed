/*
 * One line on the answer: how many hits, how long it took, what it cost. Errors, and what is missing from an
 * answer, are said below it.
 */

import { ApiError } from "../api/api.js";
import { SERVICES, priceOf } from "../api/prices.js";
import { html, refill } from "../ui/dom.js";
import { age, bytes, count, counted, dollars, duration } from "../ui/format.js";
import { icon } from "../ui/icons.js";

/** @import { Session, Result } from "../state/session.js" */
/** @import { Answer } from "../api/api.js" */

/** @param {Session} session */
export function createStatus(session) {
  const line = html("p", { class: "status-line", role: "status" }, "Reading the list of indexes…");
  const cost = html("a", { class: "status-cost", href: "#", hidden: true });
  cost.addEventListener("click", (event) => {
    event.preventDefault();
    session.go({ view: "cost" });
  });
  const notices = html("div", { class: "notices" });
  const draw = () => {
    const { result, error, isBusy } = session;
    refill(
      notices,
      error === null ? null : problem(session, error),
      result !== null && missing(result),
    );
    if (error !== null) return refill(line, "The search failed.");
    if (result === null) return;
    cost.hidden = false;
    refill(line, ...summary(result));
    refill(cost, costLine(result), html("span", { class: "hidden" }, " (show the requests)"));
    line.setAttribute("aria-busy", String(isBusy));
  };
  session.on("phase", draw);
  session.on("result", draw);
  return html(
    "div",
    { class: "status" },
    html("div", { class: "status-row" }, line, cost),
    notices,
  );
}

/** @param {Result} result */
function summary({ answer, cost, info }) {
  const isLower = answer.num_hits_relation === "gte";
  const us = cost.elapsedUs || answer.elapsed_time_micros;
  const isAll = info.numDocs === null || answer.num_hits === info.numDocs;
  const what = info.timestampField === null ? "document" : "event";
  return [
    html("b", { class: "num-hits" }, `${isLower ? "at least " : ""}${count(answer.num_hits)}`),
    ` ${what}${answer.num_hits === 1 ? "" : "s"}`,
    isPartial(answer) ? " in a part of the index" : "",
    html(
      "span",
      { class: "muted" },
      `${isAll ? "" : ` of ${count(info.numDocs ?? 0)}`} in ${duration(us)}`,
    ),
    cost.staleMs === undefined
      ? null
      : html("span", { class: "badge" }, `offline: the index as it was ${age(cost.staleMs)} ago`),
  ];
}

/** @param {Result} result */
function costLine({ cost }) {
  if (!cost.isKnown) return "cost not shown";
  if (cost.numRequests === 0) return "no request to the store";
  const s3 = SERVICES[0];
  const price = s3 === undefined ? "" : ` · ${dollars(priceOf(cost, s3).total)} on S3`;
  return `${counted(cost.numRequests, "request")} in ${counted(cost.numWaves, "wave")} · ${bytes(cost.numBytes)}${price}`;
}

/** @param {Answer} answer */
function isPartial(answer) {
  return (answer.failed_splits?.length ?? 0) + (answer.skipped_splits?.length ?? 0) > 0;
}

const BUDGETS = {
  max_requests: "it had made as many requests as it may",
  max_bytes: "it had read as many bytes as it may",
  max_waves: "it had used as many waves of requests as it may",
  deadline_ms: "its time was up",
};

/** What an answer leaves out. @param {Result} result */
function missing({ answer }) {
  const failed = answer.failed_splits ?? [];
  const skipped = answer.skipped_splits ?? [];
  if (!isPartial(answer) && !answer.timed_out && answer.budget_exhausted == null) return null;
  const budget = answer.budget_exhausted ?? (answer.timed_out ? "deadline_ms" : null);
  const why =
    budget === null ? null : (BUDGETS[/** @type {keyof typeof BUDGETS} */ (budget)] ?? budget);
  const said = [
    skipped.length > 0
      ? `${counted(skipped.length, "split")} of the index ${were(skipped)} not searched`
      : null,
    failed.length > 0 ? `${counted(failed.length, "split")} could not be read` : null,
  ].filter((part) => part !== null);
  const reasons = [
    ...new Set([...failed, ...skipped].map((split) => split.message ?? split.split_id)),
  ];
  return html(
    "div",
    { class: "notice warning" },
    icon("warning"),
    html(
      "div",
      {},
      html("b", {}, "This is a part of the answer. "),
      why === null ? "" : `The search stopped early: ${why}. `,
      said.length === 0
        ? ""
        : `${said.join(", and ")}. Counts, bars and hits are those of the rest.`,
      reasons.length === 0
        ? null
        : html(
            "details",
            {},
            html("summary", {}, "What is missing"),
            html(
              "ul",
              { class: "reasons" },
              ...reasons.slice(0, 50).map((text) => html("li", {}, text)),
            ),
          ),
    ),
  );
}

/** @param {readonly unknown[]} list */
function were(list) {
  return list.length === 1 ? "was" : "were";
}

/** @param {Session} session @param {Error} error */
function problem(session, error) {
  return html(
    "div",
    { class: "notice error", role: "alert", id: "message" },
    icon("warning"),
    html(
      "div",
      {},
      html("p", {}, sentence(error.message)),
      html(
        "p",
        { class: "small" },
        adviceFor(error),
        session.result === null ? "" : " What is below answers the search before this one.",
      ),
    ),
    isAboutToken(error) &&
      button("Use another token", () => {
        void session.api.onTokenNeeded(error.message).then((isGiven) => {
          if (isGiven) void session.load();
        });
      }),
    button("Try again", () => void (session.isStarted ? session.run() : session.load())),
  );
}

/** @param {string} text @param {() => void} onPick */
function button(text, onPick) {
  return html("button", { type: "button", class: "button", onclick: onPick }, text);
}

/** @param {Error} error */
function isAboutToken(error) {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}

/** @param {Error} error */
export function adviceFor(error) {
  const status = error instanceof ApiError ? error.status : -1;
  if (status === 400) return "Correct the query or the filters, and search again.";
  if (status === 401) return "Without a valid token, the server answers nothing.";
  if (status === 403)
    return "Your token does not allow this. Ask whoever runs the server for one that does.";
  if (status === 429 || status === 503) {
    const after = error instanceof ApiError ? error.retryAfter : undefined;
    return after === undefined
      ? "Try again in a moment."
      : `Try again in ${counted(after, "second")}.`;
  }
  return status === 504 ? "Narrow the time range or the query." : "";
}

/** Messages of the API begin in lower case and have no full stop. @param {string} text */
export function sentence(text) {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
