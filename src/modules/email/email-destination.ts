import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Id, idFromBytes } from '#kernel/ids.js';
import { ServiceDestinations } from '#modules/destinations/contract.js';

/** The destination type that emails are handed over by. */
export const EMAIL_TYPE = 'email';

/** What the row says; the adapter bounds its attempts by what the transport takes. */
const ATTEMPT_MS_MAX = 85_000;

/**
 * The target of an environment's emails, the same on every node: a uuid of version 8 (RFC 9562, section 5.8), which no ULID
 * made in this century looks like.
 */
export function emailTargetId(environmentId: number): Id {
  const bytes = createHash('sha256').update(`posthorn email ${environmentId}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return idFromBytes(bytes);
}

/** Where an environment's emails go: one destination, which comes with its first email. */
@Injectable()
export class EmailDestination {
  constructor(private readonly destinations: ServiceDestinations) {}

  /** Resolves to the target once it is there. Throws 503 while storage is away. */
  async forEnvironment(environmentId: number): Promise<Id> {
    const id = emailTargetId(environmentId);
    await this.destinations.ensure(environmentId, { id, name: 'Email', type: EMAIL_TYPE, timeoutMs: ATTEMPT_MS_MAX });
    return id;
  }
}
