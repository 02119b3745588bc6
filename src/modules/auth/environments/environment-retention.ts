import { Injectable } from '@nestjs/common';
import { expiryDay } from '#engine/expiry-day.js';
import { type Id, idTimeMs } from '#kernel/ids.js';
import { type Environment, Environments, Retention } from '#modules/auth/contract.js';

const DAY_MS = 86_400_000;

/** Counts from the id's time. A long period ends on a rounded day, so that several days share a partition. */
@Injectable()
export class EnvironmentRetention extends Retention {
  constructor(private readonly environments: Environments) {
    super();
  }

  override expiresOnDay(environmentId: number, id: Id): number | Promise<number> {
    const known = this.environments.known(environmentId);
    return known === undefined
      ? this.environments.get(environmentId).then((loaded) => dayOf(loaded, id))
      : dayOf(known, id);
  }
}

function dayOf({ retentionDays }: Environment, id: Id): number {
  return expiryDay(Math.floor(idTimeMs(id) / DAY_MS), retentionDays);
}
