/*
 * Things that open at a button: menus and small forms. The browser closes them on Escape and on a click
 * elsewhere, and gives the focus back.
 */

import { freshId, html, refill } from "./dom.js";

/** @import { Child } from "./dom.js" */

/**
 * Lets `button` open a popover, which is filled anew each time.
 * @param {HTMLButtonElement} button
 * @param {string} label
 * @param {(close: () => void) => Child[]} fill
 * @param {{ class?: string }} [options]
 * @returns {HTMLElement} the popover, to stand beside the button
 */
export function popover(button, label, fill, options = {}) {
  const id = freshId("popover");
  const place = html("div", {
    id,
    class: `popover ${options.class ?? ""}`,
    popover: "auto",
    role: "group",
    "aria-label": label,
  });
  const close = () => place.hidePopover();
  button.setAttribute("popovertarget", id);
  button.setAttribute("aria-expanded", "false");
  place.addEventListener("beforetoggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === "open") refill(place, ...fill(close));
  });
  place.addEventListener("toggle", (event) => {
    const isOpen = /** @type {ToggleEvent} */ (event).newState === "open";
    button.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return;
    putBelow(place, button);
    const first = place.querySelector("[autofocus], button, input, select, a");
    if (first instanceof HTMLElement) first.focus();
  });
  return place;
}

/**
 * Puts something below a button, within the window.
 * @param {HTMLElement} place
 * @param {HTMLElement} button
 */
export function putBelow(place, button) {
  const gap = 4;
  const margin = 8;
  const at = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = place;
  const left = Math.max(margin, Math.min(at.left, innerWidth - offsetWidth - margin));
  const below = at.bottom + gap;
  const fits = below + offsetHeight + margin <= innerHeight;
  const top = fits ? below : Math.max(margin, Math.min(below, innerHeight - offsetHeight - margin));
  place.style.left = `${left}px`;
  place.style.top = `${top}px`;
}

/**
 * An item of a menu in a popover.
 * @param {string} text
 * @param {() => void} onPick
 * @param {{ icon?: Node | undefined, isCurrent?: boolean, isDisabled?: boolean }} [options]
 */
export function menuItem(text, onPick, options = {}) {
  return html(
    "button",
    {
      type: "button",
      class: "menu-item",
      disabled: options.isDisabled,
      "aria-pressed": options.isCurrent === undefined ? null : String(options.isCurrent),
      onclick: onPick,
    },
    options.icon,
    html("span", {}, text),
  );
}
