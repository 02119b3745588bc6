import { Injectable } from '@nestjs/common';
import { Environments } from '#modules/auth/contract.js';
import { Ids, idTimeMs, type Id } from '#kernel/ids.js';
import { Tracing } from '#kernel/tracing.js';

const DAY_MS = 86_400_000;

/** What every acceptance needs besides its target. */
@Injectable()
export class SendBasics {
  constructor(
    readonly environments: Environments,
    readonly ids: Ids,
    readonly tracing: Tracing,
  ) {}

  /** The day on which the retention of something accepted now ends, in days since the epoch. */
  async expiresOnDay(environmentId: number, id: Id): Promise<number> {
    const { retentionDays } = await this.environments.get(environmentId);
    return Math.floor(idTimeMs(id) / DAY_MS) + retentionDays;
  }
}
