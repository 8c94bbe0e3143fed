/*
 * The page's icons, on a grid of 16 by 16. They decorate: what a button does is said in words.
 */

import { svg } from "./dom.js";

const PATHS = {
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.4 10.4 14 14",
  clock: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2ZM8 5v3.2l2.2 1.6",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  close: "m4 4 8 8M12 4l-8 8",
  check: "m3 8.5 3.2 3L13 4.5",
  down: "m4 6 4 4 4-4",
  up: "m4 10 4-4 4 4",
  left: "m10 4-4 4 4 4",
  right: "m6 4 4 4-4 4",
  star: "m8 2 1.8 3.8 4.2.5-3.1 2.9.8 4.1L8 11.3l-3.7 2 .8-4.1L2 6.3l4.2-.5L8 2Z",
  sun: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5Z",
  auto: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2ZM8 2v12M10 4v8M12 6v4",
  keyboard: "M1.5 4h13v8h-13ZM4 6.5h0M6.7 6.5h0M9.3 6.5h0M12 6.5h0M5 9.5h6",
  table: "M2 3h12v10H2ZM2 6.5h12M6.5 6.5V13",
  chart: "M2.5 13.5h11M4.5 11V8M8 11V4M11.5 11V6.5",
  coins:
    "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2ZM8 4.5v7M10 6.2C9.5 5.6 8.8 5.4 8 5.4c-1.1 0-2 .5-2 1.3S6.9 8 8 8s2 .5 2 1.3-.9 1.3-2 1.3c-.8 0-1.5-.2-2-.8",
  copy: "M5.5 5.5h8v8h-8ZM3.5 10.5h-1v-8h8v1",
  link: "M6.5 9.5 9.5 6.5M7 4.5l1.5-1.5a3.2 3.2 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3.2 3.2 0 0 1 3 8.5L4.5 7",
  fields: "M2.5 4h11M2.5 8h7M2.5 12h9",
  lines: "M2.5 4h4M9 4h4.5M2.5 8h7M12 8h1.5M2.5 12h2M7 12h6.5",
  sort: "M5 3v10M2.5 10.5 5 13l2.5-2.5M11 13V3M8.5 5.5 11 3l2.5 2.5",
  dots: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  warning: "M8 2.5 14.5 13.5h-13ZM8 6.5v3M8 11.5h0",
  wrap: "M2.5 4h11M2.5 8h9a2 2 0 0 1 0 4H8M9.5 10.5 8 12l1.5 1.5M2.5 12h2",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5L13 6M13 2.5V6H9.5",
};

/** @param {keyof typeof PATHS} name */
export function icon(name) {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    svg("path", { d: PATHS[name] }),
  );
}
