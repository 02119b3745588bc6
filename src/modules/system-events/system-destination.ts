import { Injectable } from '@nestjs/common';
import { sqlState } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { AttachedSystemDestinations } from '#modules/auth/environments/system-destinations.js';
import { Targets } from '#modules/destinations/targets.js';
import { Ledger } from '#modules/ledger/ledger.js';
import type { Batch } from './batches.store.js';
import type { SystemEvent } from './contract.js';

const UNIQUE_VIOLATION = '23505';

@Injectable()
export class SystemDestination {
  constructor(
    private readonly environments: Environments,
    private readonly retention: Retention,
    private readonly targets: Targets,
    private readonly ledger: Ledger,
    destinations: AttachedSystemDestinations,
  ) {
    destinations.attach((environmentId, id) => this.exists(environmentId, id));
  }

  /** Returns the destination and the expiry day of an event. A deleted destination is treated as not set. */
  async aim(environmentId: number, eventId: Id): Promise<Pick<Batch, 'destinationId' | 'expiresOnDay'>> {
    const { systemDestinationId: id } = await this.environments.get(environmentId);
    const destinationId = id !== null && (await this.exists(environmentId, id)) ? id : null;
    return { destinationId, expiresOnDay: await this.retention.expiresOnDay(environmentId, eventId) };
  }

  /** Accepts the event for delivery. Repeated calls with the same event have no effect. */
  async accept(
    { id, environmentId, type, timestamp, data }: SystemEvent,
    targetId: Id,
    expiresOnDay: number,
  ): Promise<void> {
    // If the destination cannot be loaded now, the event is accepted anyway. The first attempt then reports the
    // problem.
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

  /** Returns whether a destination exists and can be chosen. A destination that an endpoint owns cannot be chosen. */
  private async exists(environmentId: number, id: Id): Promise<boolean> {
    try {
      return (await this.targets.ofListed(environmentId, id)) !== null;
    } catch {
      // The lookup fails if a secret in the destination's headers is missing. The destination itself exists, so it can
      // be chosen.
      return true;
    }
  }
}
