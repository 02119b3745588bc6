import { Injectable } from '@nestjs/common';
import { expiryDay } from '#engine/expiry-day.js';
import { type Id, idTimeMs } from '#kernel/ids.js';
import { type Environment } from '#modules/auth/contract.js';
import { Environments } from './environments.js';

const DAY_MS = 86_400_000;

/**
 * Computes the expiry day of data from the time in its id. Long retentions are rounded up, so that several days share
 * one table partition.
 */
@Injectable()
export class Retention {
  constructor(private readonly environments: Environments) {}

  /**
   * Returns the day on which an item's retention ends, in days since the epoch. Returns a promise only if the
   * environment has to be loaded. Rejects with 404 if there is no such environment.
   */
  expiresOnDay(environmentId: number, id: Id): number | Promise<number> {
    const known = this.environments.known(environmentId);
    return known === undefined
      ? this.environments.get(environmentId).then((loaded) => dayOf(loaded, id))
      : dayOf(known, id);
  }
}

function dayOf({ retentionDays }: Environment, id: Id): number {
  return expiryDay(Math.floor(idTimeMs(id) / DAY_MS), retentionDays);
}
