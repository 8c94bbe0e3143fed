/*
 * Searches with a name, kept in this browser. Each is the query string of a link.
 */

/** @typedef {{ name: string, search: string }} Saved */

const KEY = "canter.saved";

/** @returns {Saved[]} */
export function readSaved() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(kept)) return [];
    return kept.filter((one) => typeof one?.name === "string" && typeof one?.search === "string");
  } catch {
    return [];
  }
}

/**
 * Keeps a search; one of the same name gives way. False if the browser keeps nothing.
 * @param {Saved} saved
 */
export function save(saved) {
  const others = readSaved().filter(({ name }) => name !== saved.name);
  return write([...others, saved].sort((a, b) => a.name.localeCompare(b.name)));
}

/** @param {string} name */
export function forget(name) {
  return write(readSaved().filter((saved) => saved.name !== name));
}

/** @param {Saved[]} list */
function write(list) {
  try {
    localStorage.setItem(KEY, JSON.stringify(list));
    return true;
  } catch {
    return false;
  }
}
