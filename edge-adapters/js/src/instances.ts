/*
 * Which instance a search runs on: one for all searches of this thread, or one in each of several threads.
 */

import { CanterError } from "./errors.js";
import type { Instance } from "./guest.js";
import { pause } from "./io/retry.js";

/** Settings of the instances. */
export interface InstanceOptions {
  /** Most instances that searches share; searches go to the one with the fewest. */
  readonly maxInstances: number;
  /** Most searches at once; more wait. */
  readonly maxSearches: number;
  /** With more memory than this, an instance takes no further search, and is replaced when idle. */
  readonly maxMemoryBytes: number;
  /** Whether no search may wait for a promise of another; see `TrafficOptions`. */
  readonly isolatesSearches: boolean;
}

/** What a search asks of an instance. */
export interface Use {
  /** How long it takes at most, in milliseconds. */
  readonly maxMs: number;
  /** Aborted when it is over. */
  readonly signal: AbortSignal;
  /** Whether it is given an instance of its own, which no other search can break. */
  readonly isAlone: boolean;
}

/** How long those who wait for room sleep between two looks. */
const POLL_MS = 5;

/** Searches that may have an instance of their own at the same time: each takes memory. */
const MAX_ALONE = 2;

/** A search that is under way. */
interface Lease {
  /** Until when it may take at most, in milliseconds of `performance.now()`. */
  readonly untilMs: number;
  readonly isAlone: boolean;
  instance?: Instance;
}

/** The instances in use, and who uses them. */
export class Instances {
  private readonly pool: Instance[] = [];
  private readonly starting = new Set<Promise<Instance>>();
  private readonly leases = new Set<Lease>();
  private isClosed = false;

  constructor(
    private readonly source: () => Promise<Instance>,
    readonly options: InstanceOptions,
  ) {}

  /**
   * Runs `work` on an instance as soon as there is room. Waiting is looking again after a pause, and room
   * is given for a time only: on Workers no promise of one request may wait for another request, which
   * may be ended at any moment without a word.
   */
  async use<T>(use: Use, work: (instance: Instance) => Promise<T>): Promise<T> {
    while (!this.hasRoom(use.isAlone)) {
      if (use.signal.aborted) {
        const what = `${this.leases.size} searches run already; try again`;
        throw new CanterError("unavailable", what);
      }
      await pause(POLL_MS, use.signal);
    }
    const lease: Lease = { untilMs: performance.now() + use.maxMs, isAlone: use.isAlone };
    this.leases.add(lease);
    try {
      lease.instance = use.isAlone ? await this.source() : await this.shared();
      return await work(lease.instance);
    } finally {
      this.leases.delete(lease);
      if (use.isAlone) lease.instance?.end();
      this.retire();
    }
  }

  /** Bytes of the instances that searches share. */
  get memoryBytes(): number {
    return this.pool.reduce((sum, instance) => sum + instance.memoryBytes, 0);
  }

  /** Ends all instances. What runs on them is lost, and nothing is run any more. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled(this.starting);
    for (const { instance } of this.leases) instance?.end();
    for (const instance of this.pool.splice(0)) instance.end();
  }

  private hasRoom(isAlone: boolean): boolean {
    if (this.isClosed) throw new CanterError("unavailable", "this host has been closed");
    const now = performance.now();
    for (const lease of this.leases) {
      if (lease.untilMs < now) this.leases.delete(lease);
    }
    this.retire();
    if (this.leases.size >= this.options.maxSearches) return false;
    if (isAlone) return [...this.leases].filter((lease) => lease.isAlone).length < MAX_ALONE;
    return this.pool.length < this.options.maxInstances || this.usable().length > 0;
  }

  private usable(): Instance[] {
    const { maxMemoryBytes } = this.options;
    return this.pool.filter(({ isLost, memoryBytes }) => !isLost && memoryBytes <= maxMemoryBytes);
  }

  private numOn(instance: Instance): number {
    return [...this.leases].filter((lease) => lease.instance === instance).length;
  }

  /** Lets go of what is lost, and of what is idle and has grown too large. */
  private retire(): void {
    for (const instance of [...this.pool]) {
      const isLarge = instance.memoryBytes > this.options.maxMemoryBytes;
      if (!instance.isLost && !(isLarge && this.numOn(instance) === 0)) continue;
      this.pool.splice(this.pool.indexOf(instance), 1);
      instance.end();
    }
  }

  /** The instance with the fewest searches, or a fresh one if there may be one more. */
  private async shared(): Promise<Instance> {
    const usable = this.usable();
    const fewest = Math.min(...usable.map((instance) => this.numOn(instance)));
    const idlest = usable.find((instance) => this.numOn(instance) === fewest);
    const { maxInstances, isolatesSearches } = this.options;
    const mayStart = this.pool.length + this.starting.size < maxInstances;
    if (idlest !== undefined && (fewest === 0 || !mayStart)) return idlest;
    if (isolatesSearches) {
      const made = await this.source();
      // Another search may have been faster.
      const [first] = this.usable();
      if (first === undefined) this.pool.push(made);
      else made.end();
      return first ?? made;
    }
    const [underway] = this.starting;
    if (!mayStart && underway !== undefined) return underway;
    const starting = this.start();
    this.starting.add(starting);
    return starting.finally(() => this.starting.delete(starting));
  }

  private async start(): Promise<Instance> {
    const instance = await this.source();
    this.pool.push(instance);
    return instance;
  }
}
