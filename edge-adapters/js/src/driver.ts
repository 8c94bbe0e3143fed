/*
 * The one loop: step → demand → wave → supplies → step, until the session is over.
 *
 * It knows neither what is searched nor where the bytes come from.
 */

import { CanterError } from "./errors.js";
import type { LiveGuest } from "./guest.js";
import { SessionIo } from "./io/session-io.js";
import type { SearchIo } from "./io/shared.js";
import type { Guest, HostReport, Outcome, Session, Supply } from "./protocol.js";

/** Most steps of one session: a guest that still asks after this many is asking in circles. */
const MAX_STEPS = 1000;

/** Runs the session that `open` makes on `live` to its end. */
export async function drive(
  live: LiveGuest,
  io: SearchIo,
  open: (guest: Guest) => Session,
): Promise<Outcome> {
  const waves = new SessionIo(io);
  const session = inGuest(io, () => live.call(open));
  try {
    let supplies: Supply[] = [];
    let wasIdle = false;
    for (let steps = 0; steps <= MAX_STEPS; steps++) {
      const progress = inGuest(io, () => live.call(() => session.step(supplies, hostReport(io))));
      if (progress.tag === "done") return progress.val;
      if (progress.tag === "failed") throw new CanterError(progress.val.kind, progress.val.message);
      const { reads, lookups, stores } = progress.val;
      // Once is how a guest asks what only the host knows: the time, for its answer.
      const isIdle = reads.length + lookups.length + stores.length === 0;
      if (isIdle && wasIdle) {
        throw new CanterError("internal", "the guest waits but asks for nothing");
      }
      wasIdle = isIdle;
      supplies = await waves.answer(progress.val);
      if (io.signal.aborted) throw tooLate(io);
    }
    const what = `the guest still asks for bytes after ${MAX_STEPS} steps; narrow the query`;
    throw new CanterError("limit", what);
  } finally {
    // A lost instance takes its sessions along.
    if (!live.isLost) dispose(session);
  }
}

/** Gives the guest its memory back. Runtimes without `Symbol.dispose` are served by jco's own symbol. */
export function dispose(session: Session): void {
  const symbol: symbol = Symbol.dispose ?? Symbol.for("dispose");
  (session as unknown as Record<symbol, (() => void) | undefined>)[symbol]?.();
}

/** The error of a search whose time is up, or whose caller has gone. */
export function tooLate(io: SearchIo): CanterError {
  const ms = Math.round(performance.now() - io.startedMs);
  const what = `there is no answer after ${ms} ms; raise deadline_ms or narrow the query`;
  return new CanterError("unavailable", what, 504);
}

function hostReport({ gate, startedMs }: SearchIo): HostReport {
  const report: HostReport = {
    elapsedUs: BigInt(Math.max(Math.round((performance.now() - startedMs) * 1000), 0)),
    timedOut: gate.isTimedOut,
  };
  if (gate.exhausted !== undefined) report.budgetExhausted = gate.exhausted;
  return report;
}

/** Calls the guest and counts the time. */
function inGuest<T>(io: SearchIo, work: () => T): T {
  const started = performance.now();
  try {
    return work();
  } finally {
    io.report.num_steps += 1;
    io.report.guest_us += Math.round((performance.now() - started) * 1000);
  }
}
