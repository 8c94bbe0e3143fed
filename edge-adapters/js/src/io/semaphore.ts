/*
 * At most so many at once.
 */

/** Counts permits; those who wait get them in the order in which they came. */
export class Semaphore {
  private readonly waiting: (() => void)[] = [];

  constructor(private numFree: number) {}

  /** Runs `work` with a permit. */
  async with<T>(work: () => Promise<T>): Promise<T> {
    if (this.numFree > 0) this.numFree -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.numFree += 1;
      else next();
    }
  }
}
