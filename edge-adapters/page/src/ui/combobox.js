/*
 * Suggestions below a text field, by the ARIA pattern of a combobox with a list: the focus stays in the field,
 * arrow keys move through the list, Enter or Tab takes what is chosen, Escape closes.
 */

import { freshId, html, refill } from "./dom.js";

/**
 * The text between `start` and `end` becomes `insert`; `isOpen` asks for more suggestions after that.
 * @typedef {{ label: string, detail: string, insert: string, start: number, end: number, isOpen?: boolean }} Suggestion
 */

const DELAY_MS = 120;

/**
 * @param {HTMLInputElement} input
 * @param {string} label
 * @param {(text: string, caret: number, signal: AbortSignal) => Promise<Suggestion[]>} suggest
 * @returns {HTMLElement} the list, to stand beside the field
 */
export function combobox(input, label, suggest) {
  const id = freshId("suggestions");
  const list = html("ul", {
    id,
    class: "suggestions",
    role: "listbox",
    "aria-label": label,
    hidden: true,
  });
  /** @type {Suggestion[]} */
  let shown = [];
  let current = -1;
  /** @type {AbortController | null} */
  let asking = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  for (const [name, value] of Object.entries({
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": id,
  })) {
    input.setAttribute(name, value);
  }

  const close = () => {
    clearTimeout(timer);
    asking?.abort();
    list.hidden = true;
    shown = [];
    choose(-1);
    input.setAttribute("aria-expanded", "false");
  };
  const choose = (/** @type {number} */ ord) => {
    current = ord;
    for (const [at, option] of [...list.children].entries()) {
      option.setAttribute("aria-selected", String(at === ord));
      if (at === ord) option.scrollIntoView({ block: "nearest" });
    }
    if (ord < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `${id}-${ord}`);
  };
  const open = async () => {
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    const caret = input.selectionStart ?? input.value.length;
    // No suggestion is worth an error: the search itself says what is wrong.
    const found = await suggest(input.value, caret, mine.signal).catch(() => []);
    if (mine.signal.aborted || document.activeElement !== input) return;
    if (found.length === 0) return close();
    shown = found;
    refill(list, ...found.map(option));
    list.hidden = false;
    choose(-1);
    input.setAttribute("aria-expanded", "true");
  };
  const option = (/** @type {Suggestion} */ suggestion, /** @type {number} */ ord) =>
    html(
      "li",
      {
        id: `${id}-${ord}`,
        class: "suggestion",
        role: "option",
        "aria-selected": "false",
        // Before the field loses the focus.
        onpointerdown: (/** @type {PointerEvent} */ event) => {
          event.preventDefault();
          take(suggestion);
        },
      },
      html("span", { class: "suggestion-label" }, suggestion.label),
      html("span", { class: "muted" }, suggestion.detail),
    );
  const take = (/** @type {Suggestion} */ { insert, start, end, isOpen }) => {
    input.setRangeText(insert, start, end, "end");
    input.focus();
    close();
    if (isOpen) void open();
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void open(), DELAY_MS);
  });
  input.addEventListener("blur", close);
  input.form?.addEventListener("submit", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const last = shown.length - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) return void open();
      const step = event.key === "ArrowDown" ? 1 : -1;
      // One place before the first is the field itself.
      const next = current + step;
      choose(next > last ? -1 : next < -1 ? last : next);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Enter" || event.key === "Tab") {
      const chosen = shown[current];
      if (list.hidden || chosen === undefined) return close();
      event.preventDefault();
      take(chosen);
    }
  });
  return list;
}
