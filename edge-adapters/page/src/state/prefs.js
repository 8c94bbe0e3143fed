/*
 * What one person prefers, kept in this browser and not in links: colours, the zone of times, keys, wrapping.
 */

/**
 * @typedef {{ theme: "auto" | "light" | "dark", zone: "utc" | "local", hasKeys: boolean, wraps: boolean,
 *   showsFields: boolean }} Prefs
 */

const KEY = "canter.preferences";

/** @type {Prefs} */
const DEFAULTS = { theme: "auto", zone: "utc", hasKeys: true, wraps: false, showsFields: true };

/** @type {Prefs} */
let prefs = { ...DEFAULTS, ...read() };
/** @type {Set<() => void>} */
const listeners = new Set();

export function getPrefs() {
  return prefs;
}

/** @param {Partial<Prefs>} patch */
export function setPrefs(patch) {
  prefs = { ...prefs, ...patch };
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs));
  } catch {
    // Without storage they hold until the page is left.
  }
  for (const listener of listeners) listener();
}

/** @param {() => void} listener */
export function onPrefs(listener) {
  listeners.add(listener);
}

/** The name of the zone that times are shown in, as `Intl` and aggregations want it. */
export function zoneName() {
  return prefs.zone === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** @returns {Partial<Prefs>} */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}
