import type { S3Client } from '@aws-sdk/client-s3';
import { Logger } from '@nestjs/common';
import type { EgressAgent } from '#egress/agent.js';
import { outsideOfLambda, sdkSettings } from '#egress/aws-sdk.js';
import { memoizeAsync } from '#kernel/concurrency/memoize-async.js';
import type { BlobBucket } from '#kernel/config/blob-store.js';
import { BlobGone, CHUNK_BYTES } from './chunks.js';
import { type BlobKey, BlobStore, type Swept } from './contract.js';
import { unreadable, unwritable } from './unavailable.js';

/** Bytes per range request. A process holds this amount in memory while it reads a blob. */
const RANGE_BYTES = 4 * CHUNK_BYTES;
const LIMITS = { timeoutMs: 60_000, answerBytesMax: RANGE_BYTES + 64 * 1024 };
/** Maximum number of keys that one call deletes or one page lists. */
const PAGE = 1_000;
/** Number of parallel calls when each object needs its own call. */
const AT_ONCE = 8;
const DAY = /^\d{1,7}$/;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MARK = /^(\d+)\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const UNKNOWN_CALL: ReadonlySet<number> = new Set([400, 405, 501]);

type Sdk = typeof import('@aws-sdk/client-s3');

/**
 * Stores blobs as objects of a bucket: `<environment>/<last two digits>/<id>`.
 *
 * First writes an empty object `expiring/<day>/<environment>.<id>`, which names the expiry day. A crash leaves only this
 * object, which `sweep` removes on that day. S3 writes atomically, and success means durable. The SDK is loaded
 * at the first use.
 */
export class S3Blobs extends BlobStore {
  private readonly logger = new Logger(S3Blobs.name);
  private readonly open = memoizeAsync(() => this.connect());

  constructor(
    private readonly place: BlobBucket,
    private readonly agent: EgressAgent,
  ) {
    super();
  }

  async put({ environmentId, id, expiresOnDay }: BlobKey, bytes: Buffer): Promise<void> {
    try {
      const { sdk, client } = await this.open();
      await client.send(
        new sdk.PutObjectCommand({
          ...this.at(`expiring/${expiresOnDay}/${environmentId}.${id}`),
          Body: Buffer.alloc(0),
        }),
      );
      await client.send(new sdk.PutObjectCommand({ ...this.at(blobKey(environmentId, id)), Body: bytes }));
    } catch (error) {
      throw unwritable(error, this.logger);
    }
  }

  async read(
    { environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>,
    offset = 0,
  ): Promise<AsyncIterable<Buffer> | null> {
    const key = blobKey(environmentId, id);
    try {
      const { sdk, client } = await this.open();
      const head = await client.send(new sdk.HeadObjectCommand(this.at(key))).catch(nullWhenMissing);
      if (head !== null) return this.chunks(key, offset, head.ContentLength ?? 0);
      // A HEAD response has no body and cannot report a missing bucket. This GET request can.
      await client.send(new sdk.GetObjectCommand({ ...this.at(key), Range: 'bytes=0-0' })).catch(nullWhenMissing);
      return null;
    } catch (error) {
      throw unreadable(error, this.logger);
    }
  }

  async remove({ environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>): Promise<void> {
    const key = blobKey(environmentId, id);
    try {
      const { sdk, client } = await this.open();
      await client.send(new sdk.DeleteObjectCommand(this.at(key)));
    } catch (error) {
      throw unwritable(error, this.logger);
    }
  }

  /** Removes blobs expired before `today` (in days since the epoch) and crash leftovers, while `mayGoOn()` is true. */
  async sweep(today: number, mayGoOn: () => boolean): Promise<Swept> {
    const { sdk, client } = await this.open();
    let removed = 0;
    for (const day of await this.daysBefore(today)) {
      for (;;) {
        if (!mayGoOn()) return { removed, isMore: true };
        const { Contents = [] } = await client.send(
          new sdk.ListObjectsV2Command({
            ...this.bucket(),
            Prefix: `${this.place.prefix}expiring/${day}/`,
            MaxKeys: PAGE,
          }),
        );
        const marks = Contents.flatMap(({ Key }) => Key ?? []);
        if (marks.length === 0) break;
        await this.removeAll(marks.flatMap((mark) => this.markedBy(mark) ?? []));
        // Removes the expiry objects after their blobs. If a blob was not removed, its expiry object remains for a later
        // sweep.
        await this.removeAll(marks);
        removed += marks.length;
      }
    }
    return { removed, isMore: false };
  }

  /** Returns the key of the blob that an expiry object names, or null if the object is not such an object. */
  private markedBy(mark: string): string | null {
    const [, environment, id] = MARK.exec(mark.slice(mark.lastIndexOf('/') + 1)) ?? [];
    return environment === undefined || id === undefined ? null : this.place.prefix + blobKey(Number(environment), id);
  }

  /** Removes at most one page of objects, given by their full keys. Throws if any of them could not be removed. */
  private async removeAll(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const { sdk, client } = await this.open();
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const answer = await client.send(new sdk.DeleteObjectsCommand({ ...this.bucket(), Delete })).catch(nullWhenUnknown);
    // Some S3-compatible servers do not support DeleteObjects, or the checksum that it requires.
    if (answer === null) return this.removeEach(keys);
    const [first, ...more] = answer.Errors ?? [];
    if (first !== undefined)
      throw new Error(
        `${more.length + 1} of ${keys.length} objects could not be removed: ${first.Code ?? 'no reason'}`,
      );
  }

  private async removeEach(keys: readonly string[]): Promise<void> {
    const { sdk, client } = await this.open();
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      await Promise.all(
        keys.slice(at, at + AT_ONCE).map((Key) => client.send(new sdk.DeleteObjectCommand({ ...this.bucket(), Key }))),
      );
    }
  }

  private async daysBefore(today: number): Promise<string[]> {
    const { sdk, client } = await this.open();
    const prefix = `${this.place.prefix}expiring/`;
    const days: string[] = [];
    for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
      const page = await client.send(
        new sdk.ListObjectsV2Command({
          ...this.bucket(),
          Prefix: prefix,
          Delimiter: '/',
          MaxKeys: PAGE,
          ...(token !== undefined && { ContinuationToken: token }),
        }),
      );
      days.push(...(page.CommonPrefixes ?? []).map(({ Prefix = '' }) => Prefix.slice(prefix.length, -1)));
      token = page.NextContinuationToken;
    }
    return days.filter((day) => DAY.test(day) && Number(day) < today);
  }

  private async *chunks(key: string, offset: number, size: number): AsyncGenerator<Buffer> {
    for (let at = offset; at < size; at += RANGE_BYTES) {
      const last = Math.min(at + RANGE_BYTES, size) - 1;
      const bytes = await this.range(key, `bytes=${at}-${last}`);
      if (bytes?.length !== last - at + 1) throw new BlobGone();
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES) yield bytes.subarray(from, from + CHUNK_BYTES);
    }
  }

  private async range(key: string, range: string): Promise<Buffer | null> {
    try {
      const { sdk, client } = await this.open();
      const part = await client
        .send(new sdk.GetObjectCommand({ ...this.at(key), Range: range }))
        .catch(nullWhenMissing);
      return part?.Body === undefined ? null : Buffer.from(await part.Body.transformToByteArray());
    } catch (error) {
      throw unreadable(error, this.logger);
    }
  }

  private bucket(): { Bucket: string } {
    return { Bucket: this.place.bucket };
  }

  private at(key: string): { Bucket: string; Key: string } {
    return { ...this.bucket(), Key: this.place.prefix + key };
  }

  private async connect(): Promise<{ sdk: Sdk; client: S3Client }> {
    const sdk = await import('@aws-sdk/client-s3');
    const { region, endpoint, credentials } = this.place;
    const client = outsideOfLambda(
      new sdk.S3Client({
        ...sdkSettings({ region, credentials }, this.agent, LIMITS),
        ...(endpoint !== null && { endpoint, forcePathStyle: true }),
        maxAttempts: 3,
        useArnRegion: false,
        disableMultiregionAccessPoints: true,
        disableS3ExpressSessionAuth: true,
        // The signature already covers the body, and many S3-compatible servers do not support the SDK's checksums.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
      }),
    );
    return { sdk, client };
  }
}

function blobKey(environmentId: number, id: string): string {
  if (!ID.test(id)) throw new Error('A blob id must be a UUID.');
  return `${environmentId}/${id.slice(-2)}/${id}`;
}

/** Returns null if the object does not exist. Rethrows other errors, including a missing bucket (`NoSuchBucket`). */
function nullWhenMissing(error: unknown): null {
  const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  if (name === 'NoSuchKey' || (name === 'NotFound' && $metadata?.httpStatusCode === 404)) return null;
  throw error;
}

/**
 * Returns null if the status may mean that the server does not support the call. The caller then uses another call,
 * which fails again if the status has another cause.
 */
function nullWhenUnknown(error: unknown): null {
  const { $metadata, $response } = error as Error & {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  if (UNKNOWN_CALL.has($metadata?.httpStatusCode ?? $response?.statusCode ?? 0)) return null;
  throw error;
}
