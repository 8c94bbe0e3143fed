/*
 * Which colour a level has: by its name where that says how grave it is, by its place otherwise.
 */

const KNOWN: readonly [RegExp, string][] = [
  [/^(fatal|critical|emerg|panic)/i, "fatal"],
  [/^(err|5\d\d$)/i, "error"],
  [/^(warn|4\d\d$)/i, "warn"],
  [/^(info|notice|2\d\d$)/i, "info"],
  [/^(debug|trace|3\d\d$)/i, "debug"],
];

/** The class that gives an element the colour of `level`. */
export function levelClass(level: string): string {
  const known = KNOWN.find(([pattern]) => pattern.test(level))?.[1];
  return `level-${known ?? "other"}`;
}

/** Order of stacked bars, from below: what is grave stands on top, where it is seen. */
export function gravity(level: string): number {
  const order = ["debug", "info", "other", "warn", "error", "fatal"];
  return order.indexOf(levelClass(level).slice("level-".length));
}
