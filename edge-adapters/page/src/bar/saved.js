/*
 * Saved searches: a menu of links, and a form that gives the present search a name.
 */

import { forget, readSaved, save } from "../state/saved.js";
import { writeState } from "../state/url.js";
import { announce } from "../ui/announce.js";
import { html, refill } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { popover } from "../ui/popover.js";

/** @import { Session } from "../state/session.js" */

/** @param {Session} session */
export function savedSearches(session) {
  const button = html(
    "button",
    { type: "button", class: "button quiet", id: "saved", "aria-label": "Saved searches" },
    icon("star"),
    html("span", { class: "wide-only" }, "Saved"),
  );
  const menu = popover(button, "Saved searches", (close) => content(session, close), {
    class: "saved",
  });
  return [button, menu];
}

/** @param {Session} session @param {() => void} close */
function content(session, close) {
  const list = html("ul", { class: "saved-list" });
  const draw = () => refill(list, ...rows(session, close, draw));
  const input = html("input", {
    id: "saved-name",
    class: "input",
    required: true,
    maxlength: 100,
    autocomplete: "off",
    placeholder: "Name of this search",
    autofocus: true,
  });
  const form = html(
    "form",
    {
      class: "row",
      onsubmit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const name = input.value.trim();
        if (name === "") return;
        // The index's name too, even if it is the first one now.
        const index = session.info?.name ?? session.state.index;
        const search = writeState({ ...session.state, index, doc: null });
        const isKept = save({ name, search });
        announce(isKept ? `Saved as ${name}` : "This browser keeps nothing for this page", {
          isShown: true,
        });
        input.value = "";
        draw();
      },
    },
    html("label", { for: "saved-name", class: "hidden" }, "Name"),
    input,
    html("button", { class: "button primary" }, "Save"),
  );
  draw();
  return [
    form,
    list,
    html("p", { class: "muted small" }, "Kept in this browser. Each is a link that can be shared."),
  ];
}

/** @param {Session} session @param {() => void} close @param {() => void} redraw */
function rows(session, close, redraw) {
  const saved = readSaved();
  if (saved.length === 0) return [html("li", { class: "muted" }, "Nothing is saved yet.")];
  return saved.map(({ name, search }) =>
    html(
      "li",
      { class: "row" },
      html(
        "a",
        {
          class: "menu-item grow",
          href: search === "" ? "?" : search,
          onclick: (/** @type {MouseEvent} */ event) => {
            // With a key held it opens in another tab, as links do.
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            close();
            session.visit(search);
          },
        },
        name,
      ),
      html(
        "button",
        {
          type: "button",
          class: "button quiet square",
          "aria-label": `Delete ${name}`,
          onclick: () => {
            forget(name);
            redraw();
          },
        },
        icon("trash"),
      ),
    ),
  );
}
