import {
  type BlobKey,
  BlobStorage,
  Database,
  type MailSubmission,
  NamedBlobStore,
  NamedMailTransport,
  type SubmissionReport,
  type Swept,
  Transport,
} from 'posthorn';
import { Tally } from './tally.js';

type BlobId = Pick<BlobKey, 'environmentId' | 'id'>;

const PUT = {
  name: 'depot_put_blob',
  text: `insert into depot_blobs (environment_id, id, bytes, expires_on_day) values ($1, $2, $3, $4) on conflict do nothing`,
};
const READ = {
  name: 'depot_read_blob',
  text: `select bytes from depot_blobs where environment_id = $1 and id = $2`,
};
const REMOVE = { name: 'depot_remove_blob', text: `delete from depot_blobs where environment_id = $1 and id = $2` };
const SWEEP = {
  name: 'depot_sweep_blobs',
  text: `delete from depot_blobs where expires_on_day < $1 returning id`,
};

/** Email transport of the example. Records each email as printed and sends nothing. */
@Transport()
export class DepotPrinter extends NamedMailTransport {
  override readonly name = 'depot';

  constructor(private readonly tally: Tally) {
    super();
  }

  async submit({ emailId, raw, recipients }: MailSubmission): Promise<SubmissionReport> {
    this.tally.records.push(`printed ${emailId} ${raw.length > 0}`);
    const reply = { outcome: 'accepted', code: 250, enhanced: null, text: 'Printed.' } as const;
    const replies = recipients.map((address) => ({ address, ...reply }));
    return { replies, isUnreachable: false, isFinal: true, retryAfterMs: null };
  }
}

/** Blob store: a table of the extension. */
@BlobStorage()
export class DepotBlobs extends NamedBlobStore {
  override readonly name = 'depot';

  constructor(private readonly database: Database) {
    super();
  }

  async put({ environmentId, id, expiresOnDay }: BlobKey, bytes: Buffer): Promise<void> {
    await this.database.query(PUT, [environmentId, id, bytes, expiresOnDay]);
  }

  async read({ environmentId, id }: BlobId, offset = 0): Promise<AsyncIterable<Buffer> | null> {
    const [row] = await this.database.query<{ bytes: Buffer }>(READ, [environmentId, id]);
    return row === undefined ? null : chunked(row.bytes.subarray(offset));
  }

  async remove({ environmentId, id }: BlobId): Promise<void> {
    await this.database.query(REMOVE, [environmentId, id]);
  }

  async sweep(beforeDay: number): Promise<Swept> {
    const rows = await this.database.query(SWEEP, [beforeDay]);
    return { removed: rows.length, isMore: false };
  }
}

async function* chunked(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
