import { Injectable } from '@nestjs/common';
import { ApiError, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type PayloadRow, PayloadStore } from './payload.store.js';

export interface Payload {
  contentType: string;
  bytes: Buffer;
}

/** A media type (RFC 9110, section 8.3.1): type, subtype, and parameters of printable characters. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:[\t ]*;[\t\x20-\x7e]*)?$/;
const UNKNOWN = 'application/octet-stream';

/** Reads payloads of any size, exactly as they are delivered. */
@Injectable()
export class Payloads {
  constructor(private readonly store: PayloadStore) {}

  /** Returns the payload of an event, or of the message of a fan-out. Throws 404 if it does not exist or was erased. */
  async find({ environmentId }: Tenant, id: Id): Promise<Payload> {
    const row = await this.store.find(environmentId, id);
    if (row === null) throw noSuch('event');
    if (row.erasedAt !== null) {
      throw new ApiError('not_found', 'The payload was erased.', {
        reason: 'erased',
        erased_at: row.erasedAt.toISOString(),
      });
    }
    return { contentType: contentTypeOf(row), bytes: row.body ?? Buffer.from(row.payload ?? '') };
  }
}

/**
 * Returns the media type. Sent payloads are JSON. Received payloads keep a valid Content-Type. All others, and those
 * with a Content-Encoding, are `application/octet-stream`.
 */
function contentTypeOf({ isReceived, headers }: PayloadRow): string {
  if (!isReceived) return 'application/json; charset=utf-8';
  const said = headers?.['content-type'];
  return typeof said === 'string' && headers?.['content-encoding'] === undefined && MEDIA_TYPE.test(said)
    ? said
    : UNKNOWN;
}
