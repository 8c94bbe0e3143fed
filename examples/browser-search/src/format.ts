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

/** `2016-05-12 20:47:23` */
export function timestamp(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
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
