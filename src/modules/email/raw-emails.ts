import { Injectable, Logger } from '@nestjs/common';
import { CHUNK_BYTES, exactly } from '#blobs/chunks.js';
import { type BlobKey, BlobStore, type NewBlob } from '#blobs/contract.js';
import { Config } from '#kernel/config/config.js';
import { type BoundStatement, Database } from '#kernel/database/database.js';
import { type Id, showId } from '#kernel/ids.js';
import type { EmailEntity } from './email.entities.js';

const DAY_MS = 86_400_000;
/** Maximum size of all messages in memory. Further messages are read from storage. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;
/** Age at which a message is dropped from memory. */
const KEPT_MS_MAX = 60_000;

interface KeptMessage {
  environmentId: number;
  raw: Buffer;
  timer: NodeJS.Timeout;
}

/** The fields of an email that identify its stored message and give its size. */
export type StoredMessage = Pick<EmailEntity, 'id' | 'expiresOn' | 'signature' | 'sizeBytes'>;

/**
 * Stores the raw messages of emails. A message is composed once, and its stored bytes never change. A process that sends
 * emails keeps new messages in memory, so that most first attempts do not read them back from storage.
 */
@Injectable()
export class RawEmails {
  private readonly logger = new Logger(RawEmails.name);
  private readonly kept = new Map<Id, KeptMessage>();
  private keptBytes = 0;

  constructor(
    private readonly blobs: BlobStore,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /**
   * Returns whether an email's raw message can be stored in one commit with its row. Otherwise it must be stored first:
   * it is large, or the blob store does not use PostgreSQL.
   */
  sharesCommit(raw: Buffer): boolean {
    return this.blobs.isInDatabase && raw.length <= CHUNK_BYTES;
  }

  /**
   * Stores an email's raw message in a separate transaction, so that an attempt can read it immediately. Throws 503
   * while storage is unavailable.
   */
  put(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.database.unitOfWork(() => this.blobs.put({ environmentId, id, expiresOnDay }, raw));
  }

  /** Returns the statement that stores raw messages for which `sharesCommit` is true. */
  insertOf(blobs: readonly NewBlob[]): BoundStatement {
    return this.blobs.insertOfSmall(blobs);
  }

  /**
   * Stores an email's raw message, in the caller's transaction if the blob store uses PostgreSQL. Safe to repeat,
   * because the message never changes. Throws 503 while storage is unavailable.
   */
  putWith(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.blobs.put({ environmentId, id, expiresOnDay }, raw);
  }

  /**
   * Returns the stored message of an email, without a signature that was created later. Null if it no longer exists or
   * is damaged. Throws 503 while storage is unavailable.
   */
  async stored(environmentId: number, email: StoredMessage): Promise<Buffer | null> {
    const { id, expiresOn } = email;
    const stored = await this.whole({ environmentId, id, expiresOnDay: Date.parse(expiresOn) / DAY_MS });
    if (stored === null || stored.length === storedBytes(email)) return stored;
    this.logger.error(`The stored message of ${showId('evt', id)} is damaged, and is treated as deleted.`);
    return null;
  }

  /** Returns the result of `stored` in chunks. Reading a damaged message throws `BlobGone` at its end. */
  async read(environmentId: number, email: StoredMessage): Promise<AsyncIterable<Buffer> | null> {
    const chunks = await this.blobs.read({ environmentId, id: email.id });
    return chunks && exactly(chunks, storedBytes(email));
  }

  /**
   * Keeps a message in memory until it is first read. Called before the message is committed, because its first attempt
   * may start immediately after the commit. If the commit fails, call `forget`. Does nothing in a process that sends no
   * emails, or if the memory limit is reached.
   */
  keepForFirstRead({ environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>, raw: Buffer): void {
    if (!this.config.isWorker) return;
    this.forget(environmentId, id);
    if (this.kept.has(id) || this.keptBytes + raw.length > KEPT_BYTES_MAX) return;
    const timer = setTimeout(() => this.forget(environmentId, id), KEPT_MS_MAX).unref();
    this.kept.set(id, { environmentId, raw, timer });
    this.keptBytes += raw.length;
  }

  /** Removes a message from memory, but not from storage. */
  forget(environmentId: number, id: Id): void {
    this.takeKept(environmentId, id);
  }

  /** Returns an email's whole raw message, or null if it no longer exists. Throws 503 while storage is unavailable. */
  async whole(key: BlobKey): Promise<Buffer | null> {
    return this.takeKept(key.environmentId, key.id) ?? (await this.blobs.whole(key));
  }

  /** Removes an email's raw message in a separate transaction. */
  remove(environmentId: number, id: Id): Promise<void> {
    this.forget(environmentId, id);
    return this.database.unitOfWork(() => this.blobs.remove({ environmentId, id }));
  }

  /** Returns a message in memory and removes it from there. Null if it is not in memory. */
  private takeKept(environmentId: number, id: Id): Buffer | null {
    const message = this.kept.get(id);
    if (message?.environmentId !== environmentId) return null;
    clearTimeout(message.timer);
    this.kept.delete(id);
    this.keptBytes -= message.raw.length;
    return message.raw;
  }
}

function storedBytes({ signature, sizeBytes }: StoredMessage): number {
  return sizeBytes - Buffer.byteLength(signature ?? '');
}
