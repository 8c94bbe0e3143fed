/*
 * Numbers and times as people read them.
 */

const number = new Intl.NumberFormat("en");

/** `12,345` */
export function count(value: number): string {
  return number.format(value);
}

/** `0 B`, `812 B`, `97.2 KB`, `1.34 MB` */
export function bytes(value: number): string {
  const units = ["B", "KB", "MB", "GB"];
  let unit = 0;
  let scaled = value;
  while (scaled >= 1000 && unit + 1 < units.length) {
    scaled /= 1000;
    unit += 1;
  }
  const text = unit === 0 ? String(value) : scaled.toPrecision(3);
  return `${text} ${units[unit]}`;
}

/** `3.2 ms`, `480 ms`, `1.5 s` */
export function duration(us: number): string {
  const ms = us / 1000;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const minute = new Intl.DateTimeFormat("en", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZone: "UTC",
});

/** `Apr 13`, or with the time if the steps are shorter than a day. */
export function moment(ms: number, stepMs: number): string {
  return (stepMs >= 86_400_000 ? day : minute).format(ms);
}

/**
 * The time of a hit, which has the output format of its field: seconds since 1970 as a number, or a text such as
 * `2016-05-12T20:47:23Z`. Nothing if it is no time.
 */
export function timeOf(value: unknown): Date | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const time = new Date(typeof value === "number" ? value * 1000 : Date.parse(value));
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** `2016-05-12 20:47:23` */
export function timestamp(time: Date): string {
  return time.toISOString().slice(0, 19).replace("T", " ");
}

/** `3 minutes`, for how old something is. */
export function age(ms: number): string {
  const steps: [number, string][] = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
  ];
  for (const [len, name] of steps) {
    const times = Math.floor(ms / len);
    if (times >= 1) return `${times} ${name}${times === 1 ? "" : "s"}`;
  }
  return "less than a minute";
}
