import { Injectable } from '@nestjs/common';
import { sqlState } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { Environments, Retention, SystemDestinations } from '#modules/auth/contract.js';
import { Targets } from '#modules/destinations/contract.js';
import { Ledger } from '#modules/ledger/accept.contract.js';
import type { Batch } from './batches.store.js';
import type { SystemEvent } from './contract.js';

const UNIQUE_VIOLATION = '23505';

/** Where an environment's events go, and the way there: they are accepted like any other. */
@Injectable()
export class SystemDestination {
  constructor(
    private readonly environments: Environments,
    private readonly retention: Retention,
    private readonly targets: Targets,
    private readonly ledger: Ledger,
    destinations: SystemDestinations,
  ) {
    destinations.attach((environmentId, id) => this.exists(environmentId, id));
  }

  /** For an event with this id: where it goes, and when it expires. One that was deleted since it was named is none. */
  async aim(environmentId: number, eventId: Id): Promise<Pick<Batch, 'destinationId' | 'expiresOnDay'>> {
    const { systemDestinationId: id } = await this.environments.get(environmentId);
    const destinationId = id !== null && (await this.exists(environmentId, id)) ? id : null;
    return { destinationId, expiresOnDay: await this.retention.expiresOnDay(environmentId, eventId) };
  }

  /** Accepts the event once, however often it is asked to. */
  async accept(
    { id, environmentId, type, timestamp, data }: SystemEvent,
    targetId: Id,
    expiresOnDay: number,
  ): Promise<void> {
    // One that can't be loaded right now gets its event too: the attempt finds out.
    const target = await this.targets.ofDestination(environmentId, targetId).catch(() => null);
    const payload = JSON.stringify({ type, timestamp, data });
    const event = {
      environmentId,
      id,
      expiresOnDay,
      targetId,
      payload,
      url: null,
      eventType: type,
      headers: null,
      traceparent: null,
      idempotency: null,
      payloadBytes: Buffer.byteLength(payload),
      pulled: target !== null && this.targets.adapter(target.type).pulled,
      ratePerSecond: target?.ratePerSecond ?? null,
      concurrency: target?.concurrency ?? null,
    };
    await this.ledger.accept(event).catch((error: unknown) => {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    });
  }

  /** A caller may name what is in the list: what belongs to an application's endpoint is not theirs to use. */
  private async exists(environmentId: number, id: Id): Promise<boolean> {
    try {
      return (await this.targets.ofListed(environmentId, id)) !== null;
    } catch {
      // One whose headers lack a secret right now throws, and is there.
      return true;
    }
  }
}
