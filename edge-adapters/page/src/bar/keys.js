/*
 * The keyboard: single keys for what is done often, and the overlay that lists them. They can be turned off, since
 * they get in the way of speech input.
 */

import { getPrefs, setPrefs } from "../state/prefs.js";
import { openDialog } from "../ui/dialog.js";
import { html, isTyping } from "../ui/dom.js";
import { VIEWS, toggleFields } from "./tabs.js";

/** @import { Session } from "../state/session.js" */

/** @type {readonly [string, readonly [string, string][]][]} */
const GROUPS = [
  [
    "Everywhere",
    [
      ["/", "Go to the query"],
      ["t", "Choose the time"],
      ["f", "Find a field"],
      ["b", "Show or hide the fields"],
      ["h", "Go to the histogram"],
      ["s", "Saved searches"],
      ["1 2 3", "Documents, chart, requests"],
      ["r", "Search again"],
      ["?", "This list"],
      ["Esc", "Close what is open"],
    ],
  ],
  [
    "Documents",
    [
      ["j k", "Next or previous document"],
      ["Enter", "Open the document"],
      ["m", "Show more"],
    ],
  ],
  [
    "Query",
    [
      ["↓ ↑", "Move through suggestions"],
      ["Enter", "Take the suggestion, or search"],
    ],
  ],
  [
    "Histogram",
    [
      ["← →", "Move along the bars"],
      ["Shift ← →", "Select several bars"],
      ["Enter", "Search only that time"],
    ],
  ],
];

/** @param {Session} session */
export function listenForKeys(session) {
  const focus = (/** @type {string} */ selector) => {
    const element = document.querySelector(selector);
    if (element instanceof HTMLElement || element instanceof SVGElement) element.focus();
    if (element instanceof HTMLInputElement) element.select();
  };
  const click = (/** @type {string} */ id) => document.getElementById(id)?.click();
  /** @type {Readonly<Record<string, () => void>>} */
  const keys = {
    "/": () => focus("#query"),
    t: () => click("time"),
    f: () => {
      if (document.querySelector("#fields input")?.checkVisibility() === false) toggleFields();
      focus("#field-filter");
    },
    b: toggleFields,
    h: () => focus(".bars"),
    s: () => click("saved"),
    r: () => void session.run(),
    m: () => void session.more(),
    j: () => moveRow(1),
    k: () => moveRow(-1),
    "?": showKeys,
  };
  addEventListener("keydown", (event) => {
    if (
      !getPrefs().hasKeys ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.defaultPrevented
    )
      return;
    if (
      isTyping(event.target) ||
      document.querySelector("dialog[open], [popover]:popover-open") !== null
    )
      return;
    const view = VIEWS[Number(event.key) - 1]?.[0];
    if (view !== undefined) session.go({ view });
    else if (keys[event.key] !== undefined) keys[event.key]?.();
    else return;
    event.preventDefault();
  });
}

/** @param {number} step */
function moveRow(step) {
  const rows = [...document.querySelectorAll(".open")];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next =
    rows[
      at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + step))
    ];
  if (!(next instanceof HTMLElement)) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

export function showKeys() {
  const isOn = html("input", {
    type: "checkbox",
    id: "has-keys",
    checked: getPrefs().hasKeys,
    onchange: () => setPrefs({ hasKeys: isOn.checked }),
  });
  const groups = GROUPS.map(([title, rows]) =>
    html(
      "section",
      {},
      html("h3", {}, title),
      html(
        "dl",
        { class: "keys" },
        ...rows.map(([key, what]) =>
          html(
            "div",
            {},
            html("dt", {}, ...key.split(" ").map((one) => html("kbd", {}, one))),
            html("dd", {}, what),
          ),
        ),
      ),
    ),
  );
  openDialog("Keyboard shortcuts", [
    html("div", { class: "key-groups" }, ...groups),
    html("label", { class: "check", for: "has-keys" }, isOn, "Use single-key shortcuts"),
  ]);
}
