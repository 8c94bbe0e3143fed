/*
 * The bar on top: the index, saved searches, a link to what is shown, the zone of times, colours, keys.
 */

import { getPrefs, onPrefs, setPrefs } from "../state/prefs.js";
import { copy } from "../ui/announce.js";
import { html, refill } from "../ui/dom.js";
import { bytes, count, counted } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { menuItem, popover } from "../ui/popover.js";
import { showKeys } from "./keys.js";
import { savedSearches } from "./saved.js";

/** @import { Session } from "../state/session.js" */
/** @import { Prefs } from "../state/prefs.js" */

/** Gives the page the colours that were chosen. */
export function applyTheme() {
  const { theme } = getPrefs();
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

/** @param {Session} session */
export function createHeader(session) {
  return html(
    "header",
    { class: "bar" },
    html(
      "h1",
      { class: "brand" },
      html("img", { src: "icon.svg", alt: "", width: 24, height: 24 }),
      html("span", { id: "title" }, session.options.title ?? "Canter"),
    ),
    chooser(session),
    html("span", { class: "spacer" }),
    html(
      "nav",
      { class: "tools", "aria-label": "Page" },
      ...savedSearches(session),
      tool("Copy a link to this search", icon("link"), () => void copy(location.href, "Link")),
      ...zone(),
      ...theme(),
      tool("Keyboard shortcuts", icon("keyboard"), () => showKeys()),
    ),
  );
}

/** @param {string} label @param {Node} picture @param {() => void} onPick */
function tool(label, picture, onPick) {
  return html(
    "button",
    {
      type: "button",
      class: "button quiet square",
      title: label,
      "aria-label": label,
      onclick: onPick,
    },
    picture,
  );
}

/** @param {Session} session */
function chooser(session) {
  const select = html("select", {
    id: "index",
    class: "select",
    "aria-label": "Index",
    disabled: true,
  });
  select.addEventListener("change", () => session.go({ index: select.value }));
  const about = html("span", { id: "about", class: "about muted" });
  const draw = () => {
    const { info, indexes } = session;
    const names = indexes.map((one) => one.name);
    // A link may name an index that is not there.
    if (info === undefined && session.state.index !== "") names.unshift(session.state.index);
    refill(select, ...names.map((name) => html("option", { value: name }, name)));
    select.value = info?.name ?? session.state.index;
    select.disabled = names.length === 0;
    const what = info?.timestampField === null ? "documents" : "events";
    about.textContent =
      info === undefined || info.numDocs === null
        ? ""
        : `${count(info.numDocs)} ${what}, ${bytes(info.numBytes)} in ${counted(info.numSplits, "split")}`;
  };
  session.on("indexes", draw);
  session.on("state", draw);
  return html("div", { class: "chooser" }, select, about);
}

/** Where days begin. */
function zone() {
  const button = html("button", { type: "button", class: "button quiet" });
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const draw = () => {
    const isUtc = getPrefs().zone === "utc";
    refill(button, icon("clock"), html("span", { class: "wide-only" }, isUtc ? "UTC" : "Local"));
    button.setAttribute("aria-label", `Times in ${isUtc ? "UTC" : name}`);
  };
  const pick = (/** @type {Prefs["zone"]} */ value, /** @type {() => void} */ close) => () => {
    close();
    setPrefs({ zone: value });
  };
  const menu = popover(button, "Zone of times", (close) => [
    menuItem("UTC", pick("utc", close), { isCurrent: getPrefs().zone === "utc" }),
    menuItem(`Local (${name})`, pick("local", close), { isCurrent: getPrefs().zone === "local" }),
  ]);
  draw();
  onPrefs(draw);
  return [button, menu];
}

const THEMES = /** @type {const} */ ([
  ["auto", "As the system", "auto"],
  ["light", "Light", "sun"],
  ["dark", "Dark", "moon"],
]);

function theme() {
  const button = html("button", {
    type: "button",
    class: "button quiet square",
    "aria-label": "Colours",
  });
  const draw = () => {
    const current = THEMES.find(([name]) => name === getPrefs().theme) ?? THEMES[0];
    refill(button, icon(current[2]));
  };
  const menu = popover(button, "Colours", (close) =>
    THEMES.map(([name, text, picture]) => {
      const pick = () => {
        close();
        setPrefs({ theme: name });
      };
      return menuItem(text, pick, { icon: icon(picture), isCurrent: getPrefs().theme === name });
    }),
  );
  draw();
  onPrefs(draw);
  return [button, menu];
}
