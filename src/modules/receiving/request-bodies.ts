import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Id } from '#kernel/ids.js';
import { BODY_BYTES_DEFAULT, BODY_BYTES_MAX } from '#modules/endpoints/contract.js';

/** Maximum bytes of large bodies in memory that are not stored yet. */
const HELD_BYTES_MAX = 5 * BODY_BYTES_MAX;
/** Maximum bytes of one organization's large bodies in memory that are not stored yet. */
const HELD_BYTES_OF_ONE_MAX = 2 * BODY_BYTES_MAX;
/**
 * Memory for a large body is reserved in steps of this size while the body arrives. A sender that sends nothing
 * therefore reserves no memory.
 */
const STEP_BYTES = 1024 * 1024;

type IncomingMessage = FastifyRequest['raw'];

/** Organization that receives a body, and the maximum size of the body. */
export interface BodyLimit {
  organizationId: Id;
  maxBodyBytes: number;
}

/** A body that was not read. `sizeBytes` is its declared size, or the number of bytes that had arrived. */
export class RejectedBody {
  constructor(
    readonly reason: 'too_large' | 'busy',
    readonly sizeBytes: number,
  ) {}
}

type Done = (error: Error | null, body?: Buffer | RejectedBody) => void;

/**
 * Reads the bodies of providers' requests. Bodies of over 1 MB share a fixed amount of memory. A flood of them can
 * therefore not exhaust the memory, and one organization cannot use all of it.
 */
@Injectable()
export class RequestBodies {
  private heldBytes = 0;
  private readonly heldByOrganization = new Map<Id, number>();
  private readonly held = new WeakMap<IncomingMessage, { organizationId: Id; bytes: number }>();

  /** Reads the body up to the limit, and then calls `done` once. Callers must `release` the request afterwards. */
  read(request: IncomingMessage, { organizationId, maxBodyBytes }: BodyLimit, done: Done): void {
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > maxBodyBytes) return done(null, new RejectedBody('too_large', declared));
    if (!this.fits(organizationId, roomOf(declared))) return done(null, new RejectedBody('busy', declared));
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (error: Error | null, body?: Buffer | RejectedBody): void => {
      request.off('data', onData).off('end', onEnd).off('error', onError);
      if (error !== null || body instanceof RejectedBody) this.release(request);
      done(error, body);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBodyBytes) return end(null, new RejectedBody('too_large', length));
      const room = roomOf(length);
      if (room > 0 && !this.hold(request, organizationId, room)) return end(null, new RejectedBody('busy', length));
      chunks.push(chunk);
    };
    const onEnd = (): void => end(null, Buffer.concat(chunks, length));
    const onError = (error: Error): void => end(Object.assign(error, { statusCode: 400 }));
    request.on('data', onData).on('end', onEnd).on('error', onError);
  }

  /** Releases the memory reserved for a request's body, if any. */
  release(request: IncomingMessage): void {
    const held = this.held.get(request);
    if (held === undefined) return;
    this.held.delete(request);
    this.add(held.organizationId, -held.bytes);
  }

  /** Increases the request's reservation to `bytes`. Returns false if too little memory is left. */
  private hold(request: IncomingMessage, organizationId: Id, bytes: number): boolean {
    const more = bytes - (this.held.get(request)?.bytes ?? 0);
    if (more === 0) return true;
    if (!this.fits(organizationId, more)) return false;
    this.add(organizationId, more);
    this.held.set(request, { organizationId, bytes });
    return true;
  }

  private fits(organizationId: Id, bytes: number): boolean {
    const ofOne = this.heldByOrganization.get(organizationId) ?? 0;
    return bytes === 0 || (this.heldBytes + bytes <= HELD_BYTES_MAX && ofOne + bytes <= HELD_BYTES_OF_ONE_MAX);
  }

  private add(organizationId: Id, bytes: number): void {
    const ofOne = (this.heldByOrganization.get(organizationId) ?? 0) + bytes;
    this.heldBytes += bytes;
    if (ofOne === 0) this.heldByOrganization.delete(organizationId);
    else this.heldByOrganization.set(organizationId, ofOne);
  }
}

/** Returns the number of bytes to reserve for a body of this length: 0 for a body of at most 1 MB. */
function roomOf(length: number): number {
  return length <= BODY_BYTES_DEFAULT ? 0 : Math.ceil(length / STEP_BYTES) * STEP_BYTES;
}
