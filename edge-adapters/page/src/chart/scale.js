/*
 * Axes: round numbers, and where they stand.
 */

/**
 * A round number that is not below `value`.
 * @param {number} value
 */
export function niceMax(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 2.5, 4, 5, 10].find((factor) => factor * power >= value) ?? 10;
  return step * power;
}

/**
 * The same for counts, of which half is a whole number, too.
 * @param {number} value
 */
export function niceCount(value) {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  const factors = power === 1 ? [2, 4, 6, 8, 10] : [1, 2, 3, 4, 5, 6, 8, 10];
  return (factors.find((factor) => factor * power >= value) ?? 10) * power;
}

/**
 * The ends of an axis and a few round numbers between them. Zero is always one of them.
 * @param {number} min
 * @param {number} max
 * @returns {number[]}
 */
export function ticksOf(min, max) {
  const low = Math.min(min, 0);
  const high = Math.max(max, 0);
  if (high === low) return [0, 1];
  const step = niceMax((high - low) / 4);
  const ticks = [];
  for (let at = Math.floor(low / step); at <= Math.ceil(high / step); at += 1)
    ticks.push(at * step);
  return ticks;
}
