import { Injectable } from '@nestjs/common';
import { AcceptancePolicy, type Ruling, showId, type Submission } from 'posthorn';

/** Largest payload that a NATS server accepts by default (`max_payload`). */
const PAYLOAD_BYTES_MAX = Number(process.env['NATS_PAYLOAD_BYTES_MAX'] ?? 1_048_576);

/**
 * Rejects payloads that are too large for the NATS servers, before they are stored. Adds a header with the organization
 * for receivers that share a stream. Posthorn applies this policy to emails, too.
 */
@Injectable()
export class StreamPolicy extends AcceptancePolicy {
  rule({ payload, tenant }: Submission): Ruling {
    const bytes = Buffer.byteLength(payload);
    if (bytes > PAYLOAD_BYTES_MAX)
      return { refuse: `The payload has ${bytes} bytes; the NATS servers accept at most ${PAYLOAD_BYTES_MAX}.` };
    return { headers: { 'x-organization': showId('org', tenant.organizationId) } };
  }
}
