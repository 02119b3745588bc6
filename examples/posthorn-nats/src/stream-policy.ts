import { Injectable } from '@nestjs/common';
import { AcceptancePolicy, type Ruling, showId, type Submission } from 'posthorn';

/** What a NATS server takes unless it is told otherwise (`max_payload`). */
const PAYLOAD_BYTES_MAX = Number(process.env['NATS_PAYLOAD_BYTES_MAX'] ?? 1_048_576);

/** Refuses at the door what no server would ever take, and says whose a message is to those who share a stream; of emails the same. */
@Injectable()
export class StreamPolicy extends AcceptancePolicy {
  rule({ payload, tenant }: Submission): Ruling {
    const bytes = Buffer.byteLength(payload);
    if (bytes > PAYLOAD_BYTES_MAX)
      return { refuse: `The payload has ${bytes} bytes; the NATS servers take ${PAYLOAD_BYTES_MAX}.` };
    return { headers: { 'x-organization': showId('org', tenant.organizationId) } };
  }
}
