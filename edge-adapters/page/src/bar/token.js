/*
 * Asks for a token when the server wants one. Several requests that are refused at once share one dialog.
 */

import { openDialog } from "../ui/dialog.js";
import { html } from "../ui/dom.js";

/** @type {Promise<boolean> | null} */
let asked = null;

/**
 * @param {string} message what the server said
 * @param {(token: string | null) => void} keep
 * @returns {Promise<boolean>} whether there is a token now
 */
export function askForToken(message, keep) {
  asked ??= open(message, keep).finally(() => (asked = null));
  return asked;
}

/**
 * @param {string} message
 * @param {(token: string | null) => void} keep
 * @returns {Promise<boolean>}
 */
function open(message, keep) {
  return new Promise((resolve) => {
    let isGiven = false;
    const input = html("input", {
      id: "token",
      class: "input",
      type: "password",
      autocomplete: "off",
      spellcheck: "false",
      required: true,
      autofocus: true,
      "aria-describedby": "token-said",
    });
    const kind = html(
      "select",
      { id: "token-kind", class: "select" },
      html("option", { value: "Bearer" }, "Bearer (API key or JSON Web Token)"),
      html("option", { value: "ApiKey" }, "ApiKey (as Elasticsearch’s clients send it)"),
    );
    const form = html(
      "form",
      {
        class: "form",
        onsubmit: (/** @type {SubmitEvent} */ event) => {
          event.preventDefault();
          const token = input.value.trim();
          if (token === "") return;
          isGiven = true;
          // With its kind in front it is taken as it stands.
          keep(/^(bearer|apikey|basic) /i.test(token) ? token : `${kind.value} ${token}`);
          dialog.close();
        },
      },
      html("p", { id: "token-said", class: "muted" }, `The server says: ${message}.`),
      html("label", { for: "token" }, "Token"),
      input,
      html("label", { for: "token-kind" }, "Kind"),
      kind,
      html(
        "p",
        { class: "muted small" },
        "It stays in this tab, and is forgotten when the tab is closed.",
      ),
      html("div", { class: "form-end" }, html("button", { class: "button primary" }, "Continue")),
    );
    const dialog = openDialog("Sign in", [form], {
      class: "narrow",
      onClose: () => resolve(isGiven),
    });
  });
}
