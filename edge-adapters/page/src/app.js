/*
 * The page: puts its parts together around one session.
 */

import { Api } from "./api/api.js";
import { Session } from "./state/session.js";
import { onPrefs, zoneName } from "./state/prefs.js";
import { html } from "./ui/dom.js";
import { applyTheme, createHeader } from "./bar/header.js";
import { listenForKeys } from "./bar/keys.js";
import { createFields } from "./search/fields.js";
import { createFilters } from "./search/filters.js";
import { createHistogram } from "./search/histogram.js";
import { createSearchBar } from "./search/search-bar.js";
import { createStatus } from "./bar/status.js";
import { createTabs } from "./bar/tabs.js";
import { askForToken } from "./bar/token.js";
import { listenForDocument } from "./results/document.js";

/** @import { Backend } from "./api/api.js" */
/** @import { PageOptions } from "./state/session.js" */

/**
 * Draws the page into `root`, and searches.
 * @param {HTMLElement} root
 * @param {Backend} backend
 * @param {PageOptions} [options]
 */
export function startPage(root, backend, options = {}) {
  applyTheme();
  const api = new Api(backend);
  const session = new Session(api, options);
  if (backend.setToken !== undefined) {
    const keep = backend.setToken.bind(backend);
    api.onTokenNeeded = (message) => askForToken(message, keep);
  }
  const fields = createFields(session);
  root.classList.add("app");
  root.replaceChildren(
    html("a", { class: "skip", href: "#results" }, "Skip to the results"),
    createHeader(session),
    html("div", { class: "search" }, createSearchBar(session), createFilters(session)),
    html(
      "div",
      { class: "columns" },
      fields,
      html(
        "main",
        { class: "content", id: "results", tabindex: -1 },
        createStatus(session),
        createHistogram(session),
        createTabs(session),
      ),
    ),
  );
  if (options.about !== undefined) {
    root.append(html("footer", { class: "foot muted small" }, options.about));
  }
  listenForKeys(session);
  listenForDocument(session);
  let zone = zoneName();
  onPrefs(() => {
    applyTheme();
    if (zone === zoneName()) return;
    zone = zoneName();
    // Days begin elsewhere.
    void session.run();
  });
  session.on("phase", () => root.classList.toggle("busy", session.isBusy));
  session.on("state", () => {
    const name = options.title ?? "Canter";
    const { query } = session.state;
    document.title = query === "" ? name : `${query} – ${name}`;
  });
  void session.start();
  return session;
}
