/*
 * Ranges that are on their way: whoever needs one waits for it instead of asking again.
 *
 *   flights of an object      [=====A=====]        [==B==]
 *   a search needs                  [..................]
 *   it joins A and B, and asks for  .     [========]        what neither brings
 *
 * A flight goes on while anybody waits for it, whoever began it, and is aborted when nobody does. Where a
 * search may be ended without a word, nobody gives up its flights: they are forgotten when their time is over.
 */

import type { FetchFailure } from "../errors.js";
import type { FetchedRange } from "../store/contract.js";
import type { Range } from "./pieces.js";

/** What a flight brought. It never rejects. */
export interface Landed {
  readonly result: FetchedRange | FetchFailure;
  /** When it began and ended, in milliseconds of `performance.now()`. */
  readonly startMs: number;
  readonly endMs: number;
  readonly numRetries: number;
  /** Whether a request was sent: another may have filled the cache in the meantime. */
  readonly wasSent: boolean;
  /** Bytes that were transferred. */
  readonly numBytes: number;
}

/** Whether a failed request was sent. A repetition that the budget refuses was sent before. */
export function wasSent(failure: FetchFailure): boolean {
  return failure.kind !== "budget" || failure.numRetries > 0;
}

/** A request on its way. */
export class Flight implements Range {
  private numWaiting = 0;
  private readonly landing: Promise<Landed>;
  private readonly controller = new AbortController();

  constructor(
    readonly start: number,
    readonly end: number,
    /** Until when whoever began it waits, in milliseconds of `performance.now()`. */
    readonly untilMs: number,
    fly: (signal: AbortSignal) => Promise<Landed>,
    private readonly onGivenUp: () => void,
  ) {
    this.landing = fly(this.controller.signal);
  }

  /** Waits for it, until `signal` is aborted or `maxMs` are over: then there is nothing. */
  wait(signal: AbortSignal, maxMs: number): Promise<Landed | undefined> {
    this.numWaiting += 1;
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const end = (landed?: Landed) => {
        signal.removeEventListener("abort", giveUp);
        clearTimeout(timer);
        resolve(landed);
      };
      let isOver = false;
      const giveUp = () => {
        if (isOver) return;
        isOver = true;
        this.numWaiting -= 1;
        if (this.numWaiting === 0) {
          this.onGivenUp();
          this.controller.abort();
        }
        end();
      };
      void this.landing.then((landed) => {
        isOver = true;
        end(landed);
      });
      signal.addEventListener("abort", giveUp);
      const passBy = () => {
        // Whoever began it may have been ended without a word: nobody else shall wait for it.
        this.onGivenUp();
        giveUp();
      };
      if (Number.isFinite(maxMs)) timer = setTimeout(passBy, maxMs);
      if (signal.aborted) giveUp();
    });
  }
}

/** The flights of all searches of one `Canter`, by object. */
export class Flights {
  /** How many have landed so far: what a cache did not have a moment ago it may have now. */
  numLanded = 0;
  private readonly underway = new Map<string, Flight[]>();
  /** No flight's time is over before this. */
  private nextExpiryMs = Infinity;

  /** The flights that bring a part of `range`, and the parts that none brings. */
  claim(object: string, range: Range): { readonly joined: Flight[]; readonly free: Range[] } {
    this.forgetExpired();
    const joined: Flight[] = [];
    let free: Range[] = [range];
    for (const flight of this.underway.get(object) ?? []) {
      if (!free.some((part) => part.start < flight.end && flight.start < part.end)) continue;
      free = free.flatMap((part) => without(part, flight));
      joined.push(flight);
    }
    return { joined, free };
  }

  /** Sends a request off that others may join until `untilMs`. */
  launch(
    object: string,
    range: Range,
    untilMs: number,
    fly: (signal: AbortSignal) => Promise<Landed>,
  ): Flight {
    this.forgetExpired();
    const remove = () => this.remove(object, flight);
    const flight: Flight = new Flight(
      range.start,
      range.end,
      untilMs,
      async (signal) => {
        const landed = await fly(signal);
        this.numLanded += 1;
        remove();
        return landed;
      },
      remove,
    );
    this.underway.set(object, [...(this.underway.get(object) ?? []), flight]);
    this.nextExpiryMs = Math.min(this.nextExpiryMs, untilMs);
    return flight;
  }

  /** Those who wait for an expired flight go on waiting; nobody else will. */
  private forgetExpired(): void {
    const now = performance.now();
    if (now < this.nextExpiryMs) return;
    const expired = [...this.underway].flatMap(([object, flights]) =>
      flights.filter(({ untilMs }) => untilMs <= now).map((flight) => ({ object, flight })),
    );
    for (const { object, flight } of expired) this.remove(object, flight);
    const left = [...this.underway.values()].flat();
    this.nextExpiryMs = left.reduce((next, { untilMs }) => Math.min(next, untilMs), Infinity);
  }

  private remove(object: string, flight: Flight): void {
    const rest = (this.underway.get(object) ?? []).filter((other) => other !== flight);
    if (rest.length === 0) this.underway.delete(object);
    else this.underway.set(object, rest);
  }
}

/** What is left of `range` without `taken`. */
function without(range: Range, taken: Range): Range[] {
  const before = { start: range.start, end: Math.min(range.end, taken.start) };
  const after = { start: Math.max(range.start, taken.end), end: range.end };
  return [before, after].filter((part) => part.start < part.end);
}
