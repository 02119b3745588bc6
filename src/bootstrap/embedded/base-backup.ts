import { Readable } from 'node:stream';
import pg from 'pg';
import { EmbeddedPostgresError } from './failure.js';

/**
 * Command of PostgreSQL's replication protocol. Copies every file, plus the WAL that makes the copy consistent, from a
 * running server. CHECKPOINT 'fast' starts at once instead of waiting for the next checkpoint.
 */
const BASE_BACKUP = `BASE_BACKUP (LABEL 'posthorn', CHECKPOINT 'fast', WAL true, MANIFEST 'no')`;

/** Creates a temporary replication slot: without it, a busy server may remove WAL that the copy still needs. */
const KEEP_WAL = `CREATE_REPLICATION_SLOT posthorn_backup_${process.pid} TEMPORARY PHYSICAL RESERVE_WAL`;

/**
 * Streams a base backup of the server at `url`, as a tar file of its data directory. The backup contains every
 * transaction that was committed before the backup began.
 *
 * @throws EmbeddedPostgresError, also from the stream, if the server cannot provide a backup.
 */
export async function* baseBackup(url: string): AsyncGenerator<Buffer> {
  const client = new pg.Client({ connectionString: url, replication: 'true' } as pg.ClientConfig);
  // Ignores this event. If the server stops during the copy, the pending call throws the same error.
  client.on('error', () => {});
  const copy = new BaseBackupCopy();
  try {
    await client.connect();
    await client.query(KEEP_WAL);
    client.query(copy);
    yield* copy.content as AsyncIterable<Buffer>;
  } catch (error) {
    throw new EmbeddedPostgresError(`PostgreSQL returned no base backup: ${(error as Error).message}`);
  } finally {
    // Closes the connection if the consumer stopped early. Otherwise, the paused copy would never end.
    copy.hangUp();
    await client.end().catch(() => undefined);
  }
}

/** Members of node-postgres' connection that this file uses and that the package's types omit. */
interface Wire {
  query(text: string): void;
  stream: { pause(): void; resume(): void; destroy(): void };
  once(event: 'end', listener: () => void): void;
}

/** A query in COPY OUT mode. node-postgres passes each message of the copy to a handler of this class. */
class BaseBackupCopy implements pg.Submittable {
  readonly content: Readable;
  private wire: Wire | null = null;
  private archives = 0;
  private isWhole = false;

  constructor() {
    this.content = new Readable({ read: () => this.wire?.stream.resume() });
  }

  submit(connection: unknown): void {
    this.wire = connection as Wire;
    this.wire.once('end', () => this.content.destroy(new Error('the connection ended')));
    this.wire.query(BASE_BACKUP);
  }

  /** The first byte is the message type. Only type `d` carries bytes of the archive. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    const kind = String.fromCharCode(chunk[0] ?? 0);
    if (kind === 'n') this.archives += 1;
    if (this.archives > 1) this.content.destroy(new Error('it has tablespaces besides its data directory'));
    // Copies the bytes, because the parser reuses its buffer.
    else if (kind === 'd' && !this.content.push(Buffer.from(chunk.subarray(1)))) this.wire?.stream.pause();
  }

  handleReadyForQuery(): void {
    this.isWhole = true;
    this.content.push(null);
  }

  handleError(error: Error): void {
    this.content.destroy(error);
  }

  /** Destroys the connection if the copy is incomplete. */
  hangUp(): void {
    if (!this.isWhole) this.wire?.stream.destroy();
  }

  // PostgreSQL sends the start and end positions in the WAL as two result sets. They are ignored.
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
}
