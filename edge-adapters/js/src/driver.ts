/*
 * The one loop: step → demand → wave → supplies → step, until the session is over.
 *
 * It knows neither what is searched nor where the bytes come from.
 */

import { CanterError } from "./errors.js";
import { GivenUp, type Instance, type OpenSession, type Opening } from "./guest.js";
import { SessionIo } from "./io/session-io.js";
import type { SearchIo } from "./io/shared.js";
import type { HostReport, Outcome, Supply } from "./protocol.js";

/** Most steps of one session: a guest that still asks after this many is asking in circles. */
const MAX_STEPS = 1000;

/** Opens a session on `instance` and runs it to its end. */
export async function run(instance: Instance, io: SearchIo, opening: Opening): Promise<Outcome> {
  return drive(await inTime(instance.open(opening, io.signal), io), io);
}

/** Runs a session to its end. */
export async function drive(session: OpenSession, io: SearchIo): Promise<Outcome> {
  const waves = new SessionIo(io);
  io.report.num_steps += 1;
  try {
    let supplies: Supply[] = [];
    let wasIdle = false;
    for (let steps = 0; steps <= MAX_STEPS; steps++) {
      io.report.num_steps += 1;
      const progress = await inTime(session.step(supplies, hostReport(io), io.signal), io);
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
      if (io.signal.aborted) throw tooLate(io.startedMs);
    }
    const what = `the guest still asks for bytes after ${MAX_STEPS} steps; narrow the query`;
    throw new CanterError("limit", what);
  } finally {
    io.report.guest_us += session.guestUs;
    session.close();
  }
}

/** What `work` gives, or the error of a search whose time is up. */
async function inTime<T>(work: Promise<T>, io: SearchIo): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof GivenUp ? tooLate(io.startedMs) : error;
  }
}

/** The error of a search whose time is up, or whose caller has gone. */
export function tooLate(startedMs: number): CanterError {
  // Upwards: a timer may fire a fraction of a millisecond early.
  const ms = Math.ceil(performance.now() - startedMs);
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
