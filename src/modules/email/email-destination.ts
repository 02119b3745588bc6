import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Id, idFromBytes } from '#kernel/ids.js';
import { ServiceDestinations } from '#modules/destinations/service-destinations.js';

export const EMAIL_TYPE = 'email';

/** Timeout to store in the destination's row. It has no effect, because the adapter uses the transport's timeout. */
const ATTEMPT_MS_MAX = 85_000;

/**
 * Returns the id of the environment's email destination. It is computed from the environment's id, so it is the same on
 * all nodes. It is a version 8 UUID (RFC 9562, section 5.8), made of hashed bits.
 */
export function emailTargetId(environmentId: number): Id {
  const bytes = createHash('sha256').update(`posthorn email ${environmentId}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return idFromBytes(bytes);
}

/** Provides the destination for an environment's emails. It is created for the environment's first email. */
@Injectable()
export class EmailDestination {
  /** Ids of existing destinations, by environment. */
  private readonly ids = new Map<number, Id>();

  constructor(private readonly destinations: ServiceDestinations) {}

  /** Returns the destination's id once the destination exists. Throws 503 while storage is unavailable. */
  async forEnvironment(environmentId: number): Promise<Id> {
    const known = this.ids.get(environmentId);
    if (known !== undefined) return known;
    const id = emailTargetId(environmentId);
    await this.destinations.ensure(environmentId, { id, name: 'Email', type: EMAIL_TYPE, timeoutMs: ATTEMPT_MS_MAX });
    this.ids.set(environmentId, id);
    return id;
  }
}
