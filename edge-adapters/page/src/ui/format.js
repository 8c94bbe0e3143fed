/*
 * Numbers and times as people read them.
 */

const LOCALE = "en";
const integer = new Intl.NumberFormat(LOCALE);
const decimal = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 3 });
const precise = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 4 });
const compact = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumSignificantDigits: 3 });
const percentage = new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 1 });
const money = new Intl.NumberFormat(LOCALE, {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 0,
  maximumFractionDigits: 20,
  maximumSignificantDigits: 3,
});
const cents = new Intl.NumberFormat(LOCALE, { style: "currency", currency: "USD" });

/** `12,345` @param {number} value */
export function count(value) {
  return integer.format(value);
}

/** `12,345.679`, with digits enough for small numbers. @param {number} value */
export function quantity(value) {
  return Math.abs(value) >= 1 || value === 0 ? decimal.format(value) : precise.format(value);
}

/** `12.3K`, for axes. @param {number} value */
export function short(value) {
  return Math.abs(value) < 10_000 ? quantity(value) : compact.format(value);
}

/** `42.5%` @param {number} share */
export function percent(share) {
  return percentage.format(share);
}

/** `$0.0000036`, `$5.60` @param {number} value */
export function dollars(value) {
  return (value < 0.01 ? money : cents).format(value);
}

/** `1 request`, `2 requests` @param {number} value @param {string} what */
export function counted(value, what) {
  return `${count(value)} ${what}${value === 1 ? "" : "s"}`;
}

/**
 * @param {number} value
 * @param {string} unit
 */
function measured(value, unit) {
  return new Intl.NumberFormat(LOCALE, {
    style: "unit",
    unit,
    unitDisplay: "short",
    maximumSignificantDigits: value < 1000 ? 3 : 4,
  }).format(value);
}

/** `812 byte`, `97.2 kB`, `1.34 MB` @param {number} value */
export function bytes(value) {
  if (value < 1000) return `${count(value)} B`;
  if (value < 1e6) return measured(value / 1e3, "kilobyte");
  return value < 1e9 ? measured(value / 1e6, "megabyte") : measured(value / 1e9, "gigabyte");
}

/** `3.2 ms`, `480 ms`, `1.5 sec` @param {number} us */
export function duration(us) {
  return us < 1e6 ? measured(us / 1000, "millisecond") : measured(us / 1e6, "second");
}

/** `3 minutes`, for how old something is. @param {number} ms */
export function age(ms) {
  /** @type {[number, string][]} */
  const steps = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
  ];
  const step = steps.find(([length]) => ms >= length);
  return step === undefined ? "less than a minute" : counted(Math.floor(ms / step[0]), step[1]);
}

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/**
 * @param {string} zone
 * @param {Intl.DateTimeFormatOptions} options
 */
function dateFormat(zone, options) {
  const key = zone + JSON.stringify(options);
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(LOCALE, { ...options, hourCycle: "h23", timeZone: zone });
    formats.set(key, format);
  }
  return format;
}

/**
 * `2026-05-12 20:47:23`, with milliseconds if there are any.
 * @param {number} ms
 * @param {string} zone
 */
export function timestamp(ms, zone) {
  const two = /** @type {const} */ ("2-digit");
  const options = {
    year: /** @type {const} */ ("numeric"),
    month: two,
    day: two,
    hour: two,
    minute: two,
  };
  const parts = dateFormat(zone, { ...options, second: two }).formatToParts(ms);
  const part = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  const rest = ((ms % 1000) + 1000) % 1000;
  const fraction = rest === 0 ? "" : `.${String(Math.floor(rest)).padStart(3, "0")}`;
  return `${part["year"]}-${part["month"]}-${part["day"]} ${part["hour"]}:${part["minute"]}:${part["second"]}${fraction}`;
}

/**
 * A moment as precise as a step needs: `May 2026`, `May 12`, `May 12, 20:47`, `20:47:23`
 * @param {number} ms
 * @param {number} stepMs
 * @param {string} zone
 */
export function moment(ms, stepMs, zone) {
  const month = /** @type {const} */ ("short");
  const two = /** @type {const} */ ("2-digit");
  if (stepMs >= 360 * 86_400_000) return dateFormat(zone, { year: "numeric" }).format(ms);
  if (stepMs >= 28 * 86_400_000) return dateFormat(zone, { year: "numeric", month }).format(ms);
  if (stepMs >= 86_400_000) return dateFormat(zone, { month, day: "numeric" }).format(ms);
  if (stepMs < 60_000) return dateFormat(zone, { hour: two, minute: two, second: two }).format(ms);
  return dateFormat(zone, { month, day: "numeric", hour: two, minute: two }).format(ms);
}

/** `Thu, May 12, 2026, 20:47`, for tips. @param {number} ms @param {number} stepMs @param {string} zone */
export function longMoment(ms, stepMs, zone) {
  /** @type {Intl.DateTimeFormatOptions} */
  const day = { weekday: "short", year: "numeric", month: "short", day: "numeric" };
  if (stepMs >= 28 * 86_400_000) return moment(ms, stepMs, zone);
  if (stepMs >= 86_400_000) return dateFormat(zone, day).format(ms);
  const time = { hour: /** @type {const} */ ("2-digit"), minute: /** @type {const} */ ("2-digit") };
  const seconds = stepMs < 60_000 ? { second: /** @type {const} */ ("2-digit") } : {};
  return dateFormat(zone, { ...day, ...time, ...seconds }).format(ms);
}

/**
 * Milliseconds since 1970 of a date as it stands in a hit, by the field's output format; nothing if it is none.
 * @param {unknown} value
 * @param {string} [format]
 */
export function timeOf(value, format = "") {
  const ms =
    typeof value === "string"
      ? Date.parse(value)
      : typeof value === "number"
        ? value * unitOf(format)
        : Number.NaN;
  // Beyond some 270,000 years there are no dates.
  return Number.isNaN(new Date(ms).getTime()) ? undefined : ms;
}

/** Milliseconds in one of what dates are counted in. @param {string} format */
function unitOf(format) {
  if (format.includes("milli")) return 1;
  if (format.includes("micro")) return 1e-3;
  return format.includes("nano") ? 1e-6 : 1000;
}
