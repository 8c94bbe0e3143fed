/*
 * The time that is searched: before now, before the newest event, between two moments, or all.
 */

import { getPrefs, onPrefs, zoneName } from "../state/prefs.js";
import { QUICK, lengthName, momentText, rangeName, readMoment } from "../state/time.js";
import { anchorsOf } from "../api/request.js";
import { html, refill } from "../ui/dom.js";
import { timestamp } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { popover } from "../ui/popover.js";

/** @import { Session } from "../state/session.js" */

/** @param {Session} session */
export function timePicker(session) {
  const button = html("button", { type: "button", id: "time", class: "button time" });
  const clear = html(
    "button",
    {
      type: "button",
      id: "range",
      class: "button quiet square",
      "aria-label": "Search all time again",
      title: "Search all time again",
      onclick: () => session.go({ from: "", to: "" }),
    },
    icon("close"),
  );
  const draw = () => {
    const { from, to } = session.state;
    const name = rangeName(from, to, (ms) => timestamp(ms, zoneName()));
    refill(button, icon("clock"), html("span", {}, name), icon("down"));
    button.setAttribute("aria-label", `Time: ${name}`);
    clear.hidden = from === "" && to === "";
    box.hidden = session.info?.timestampField === null;
  };
  const menu = popover(button, "Time", (close) => content(session, close), { class: "time-menu" });
  const box = html("div", { class: "time-box" }, button, clear, menu);
  draw();
  session.on("state", draw);
  onPrefs(draw);
  return [box];
}

/** @param {Session} session @param {() => void} close */
function content(session, close) {
  const pick = (/** @type {string} */ from, /** @type {string} */ to) => {
    close();
    session.go({ from, to });
  };
  const { from, to } = session.state;
  const choice = (
    /** @type {string} */ text,
    /** @type {string} */ start,
    /** @type {string} */ end,
  ) =>
    html(
      "button",
      {
        type: "button",
        class: "menu-item",
        "aria-pressed": String(from === start && to === end),
        onclick: () => pick(start, end),
      },
      text,
    );
  const column = (/** @type {string} */ title, /** @type {HTMLElement[]} */ items) =>
    html("div", { class: "time-column" }, html("h3", {}, title), ...items);
  return [
    html(
      "div",
      { class: "time-columns" },
      column(
        "Until now",
        QUICK.map((length) => choice(`Last ${lengthName(length)}`, `now-${length}`, "")),
      ),
      session.info?.maxTime != null &&
        column(
          "Until the newest event",
          QUICK.map((length) =>
            choice(`Newest ${lengthName(length)}`, `newest-${length}`, "newest"),
          ),
        ),
    ),
    choice("All time", "", ""),
    absolute(session, pick),
  ];
}

/**
 * @param {Session} session
 * @param {(from: string, to: string) => void} pick
 */
function absolute(session, pick) {
  const { from, to } = session.state;
  const bounds = session.result?.asked.bounds;
  const start = html("input", { id: "time-from", class: "input", type: "datetime-local", step: 1 });
  const end = html("input", { id: "time-to", class: "input", type: "datetime-local", step: 1 });
  const said = html("p", { class: "field-error", role: "alert", hidden: true });
  const anchors =
    session.info === undefined ? { nowMs: Date.now(), newestMs: null } : anchorsOf(session.info);
  start.value = typedOf(readMoment(from, anchors) ?? bounds?.startMs);
  end.value = typedOf(readMoment(to, anchors) ?? bounds?.endMs);
  const zone = getPrefs().zone === "utc" ? "UTC" : zoneName();
  return html(
    "form",
    {
      class: "form time-form",
      onsubmit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const [first, last] = [momentOf(start.value), momentOf(end.value)];
        if (first !== null && last !== null && last <= first) {
          said.textContent = "The end must be later than the start.";
          said.hidden = false;
          return;
        }
        pick(first === null ? "" : momentText(first), last === null ? "" : momentText(last));
      },
    },
    html("h3", {}, `Between two moments (${zone})`),
    html("label", { for: "time-from" }, "From"),
    start,
    html("label", { for: "time-to" }, "To, not included"),
    end,
    said,
    html("button", { class: "button primary" }, "Apply"),
  );
}

/** What the browser's field for dates holds, in the zone of the page. @param {number | undefined} ms */
function typedOf(ms) {
  return ms === undefined
    ? ""
    : timestamp(Math.floor(ms / 1000) * 1000, zoneName()).replace(" ", "T");
}

/** @param {string} typed */
function momentOf(typed) {
  const ms = Date.parse(getPrefs().zone === "utc" ? `${typed}Z` : typed);
  return typed === "" || Number.isNaN(ms) ? null : ms;
}
