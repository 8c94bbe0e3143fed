/*
 * Short messages: read out by screen readers, and shown for a moment if they answer something that was clicked.
 */

import { html } from "./dom.js";

const place = html("div", { class: "toast", role: "status", "aria-live": "polite" });
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {string} message @param {{ isShown?: boolean }} [options] */
export function announce(message, options = {}) {
  // A modal dialog makes everything outside of it inert, messages too.
  const home = document.querySelector("dialog[open]") ?? document.body;
  if (place.parentElement !== home) home.append(place);
  place.classList.toggle("shown", options.isShown === true);
  place.textContent = message;
  clearTimeout(timer);
  timer = setTimeout(() => place.classList.remove("shown"), 2500);
}

/** @param {string} text @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`, { isShown: true });
  } catch {
    announce("The browser did not allow copying", { isShown: true });
  }
}
