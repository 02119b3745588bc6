import { Readable } from 'node:stream';
import pg from 'pg';
import { EmbeddedPostgresError } from './failure.js';

/**
 * Of PostgreSQL's replication protocol: a copy of every file with what of the WAL makes it whole, as a tar file, while the
 * server goes on working. A fast checkpoint begins it, instead of waiting for the next one.
 */
const BASE_BACKUP = `BASE_BACKUP (LABEL 'posthorn', CHECKPOINT 'fast', WAL true, MANIFEST 'no')`;

/** Lives as long as the connection: without it a busy server may remove WAL that the copy still needs. */
const KEEP_WAL = `CREATE_REPLICATION_SLOT posthorn_backup_${process.pid} TEMPORARY PHYSICAL RESERVE_WAL`;

/**
 * Streams a base backup of the server at `url`, as a tar file with every file of its data directory. What was committed when it
 * begins is in it, and nothing of what is rolled back.
 *
 * @throws EmbeddedPostgresError, also out of the stream, when the server can't give one.
 */
export async function* baseBackup(url: string): AsyncGenerator<Buffer> {
  const client = new pg.Client({ connectionString: url, replication: 'true' } as pg.ClientConfig);
  // A server that stops meanwhile ends the connection; the pending call reports it.
  client.on('error', () => {});
  const copy = new BaseBackupCopy();
  try {
    await client.connect();
    await client.query(KEEP_WAL);
    client.query(copy);
    yield* copy.content as AsyncIterable<Buffer>;
  } catch (error) {
    throw new EmbeddedPostgresError(`PostgreSQL gave no base backup: ${(error as Error).message}`);
  } finally {
    // Whoever stops reading half-way leaves a copy that would go on for as long as somebody read it.
    copy.hangUp();
    await client.end().catch(() => undefined);
  }
}

/** The part of node-postgres' connection that is used: its types leave out the rest. */
interface Wire {
  query(text: string): void;
  stream: { pause(): void; resume(): void; destroy(): void };
  once(event: 'end', heard: () => void): void;
}

/** A query whose answer is a copy out, which node-postgres hands over message by message. */
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

  /** The first byte says what a message is; only `d` carries bytes of the archive. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    const kind = String.fromCharCode(chunk[0] ?? 0);
    if (kind === 'n') this.archives += 1;
    if (this.archives > 1) this.content.destroy(new Error('it has tablespaces besides its data directory'));
    // The parser writes over what it handed out.
    else if (kind === 'd' && !this.content.push(Buffer.from(chunk.subarray(1)))) this.wire?.stream.pause();
  }

  handleReadyForQuery(): void {
    this.isWhole = true;
    this.content.push(null);
  }

  handleError(error: Error): void {
    this.content.destroy(error);
  }

  /** Ends the connection under a copy that is not whole. */
  hangUp(): void {
    if (!this.isWhole) this.wire?.stream.destroy();
  }

  // Result sets before and behind the copy say where in the WAL it begins and ends.
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
}
