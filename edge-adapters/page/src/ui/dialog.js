/*
 * Modal dialogs: the browser keeps the focus inside, and gives it back to where it was.
 */

import { freshId, html } from "./dom.js";
import { icon } from "./icons.js";

/** @import { Child } from "./dom.js" */

/**
 * Opens a dialog. It is removed when it closes.
 * @param {string} title
 * @param {Child[]} children
 * @param {{ class?: string, tools?: Child[], onClose?: () => void }} [options]
 */
export function openDialog(title, children, options = {}) {
  const id = freshId("dialog");
  const dialog = html(
    "dialog",
    { class: `dialog ${options.class ?? ""}`, "aria-labelledby": id },
    html(
      "header",
      { class: "dialog-head" },
      html("h2", { id }, title),
      html("div", { class: "dialog-tools" }, ...(options.tools ?? [])),
      html(
        "button",
        {
          type: "button",
          class: "button quiet square",
          "aria-label": "Close",
          onclick: () => dialog.close(),
        },
        icon("close"),
      ),
    ),
    html("div", { class: "dialog-body" }, ...children),
  );
  // A click on what is behind it; one that began inside, as when text is selected, is none.
  let isOutside = false;
  dialog.addEventListener("pointerdown", (event) => (isOutside = event.target === dialog));
  dialog.addEventListener("click", (event) => {
    if (isOutside && event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    options.onClose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
