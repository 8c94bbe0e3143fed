/*
 * Which colour a series has: by its name where that says how grave it is, by its place otherwise.
 */

/** @type {readonly [RegExp, string][]} */
const KNOWN = [
  [/^(fatal|critical|emerg|panic|alert$)/i, "fatal"],
  [/^(err|5\d\d$)/i, "error"],
  [/^(warn|4\d\d$)/i, "warn"],
  [/^(info|notice|2\d\d$)/i, "info"],
  [/^(debug|trace|3\d\d$)/i, "debug"],
];
const ORDER = ["debug", "info", "warn", "error", "fatal"];
const NUM_COLORS = 8;

/** What is grave about a name, if anything. @param {string} name */
export function gravityOf(name) {
  return KNOWN.find(([pattern]) => pattern.test(name))?.[1];
}

/** @typedef {{ name: string, className: string }} Colored */

/**
 * Classes for names, in the order in which they are stacked: what is grave stands on top, where it is seen.
 * Names are only taken for levels if most of them are, and if no two have the same colour.
 * @param {readonly string[]} names
 * @returns {Colored[]}
 */
export function colorsOf(names) {
  const grave = names.map(gravityOf);
  const known = grave.filter((one) => one !== undefined);
  const isLevels = known.length * 2 > names.length;
  const isClear = new Set(known).size === known.length;
  if (isLevels && isClear) {
    let others = 0;
    return names
      .map((name, ord) => ({ name, className: grave[ord] ?? `series-${others++ % NUM_COLORS}` }))
      .map(({ name, className }) => ({
        name,
        className: className.startsWith("series") ? className : `level-${className}`,
      }))
      .sort((a, b) => rank(a) - rank(b));
  }
  return names.map((name, ord) => ({ name, className: `series-${ord % NUM_COLORS}` }));
}

/** @param {Colored} colored */
function rank({ className }) {
  return ORDER.indexOf(className.slice("level-".length));
}
