import type { Logger } from '@nestjs/common';
import { isStorageAway } from '#kernel/database/database.js';

const BACKOFF_MS_MAX = 2_000;

/** Retries `work` while storage is unavailable, because the data to store must not be lost. Rethrows other errors. */
export async function untilStored<R>(logger: Logger, what: string, work: () => Promise<R>): Promise<R> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isStorageAway(error)) throw error;
      const restMs = Math.min(50 * 2 ** failures, BACKOFF_MS_MAX);
      logger.warn(`${what} failed, again in ${restMs} ms: ${(error as Error).message}`);
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }
}
