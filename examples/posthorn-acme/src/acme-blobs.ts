import { Readable } from 'node:stream';
import { type BlobKey, BlobStorage, EgressAgent, EgressGate, NamedBlobStore, type Swept } from 'posthorn';

const API = process.env['ACME_BLOBS_URL'] ?? 'https://blobs.acme.example';
const BYTES_MAX = 64_000_000;

type BlobId = Pick<BlobKey, 'environmentId' | 'id'>;

/** Stores messages in Acme's HTTP API, which itself deletes each message on its expiry day. */
@BlobStorage()
export class AcmeBlobs extends NamedBlobStore {
  override readonly name = 'acme';

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
  ) {
    super();
  }

  async put(key: BlobKey, bytes: Buffer): Promise<void> {
    const stored = await this.call('PUT', key, bytes, { 'x-delete-on-day': String(key.expiresOnDay) });
    if (stored === null) throw new Error('Acme has no such bucket.');
  }

  async read(key: BlobId, offset = 0): Promise<AsyncIterable<Buffer> | null> {
    const bytes = await this.call('GET', key);
    return bytes === null ? null : Readable.from([bytes.subarray(offset)]);
  }

  async remove(key: BlobId): Promise<void> {
    await this.call('DELETE', key);
  }

  async sweep(): Promise<Swept> {
    return { removed: 0, isMore: false };
  }

  /** Returns null after a 404. Throws after any other failure. */
  private async call(
    method: string,
    { environmentId, id }: BlobId,
    body: Buffer | null = null,
    headers: Record<string, string> = {},
  ): Promise<Buffer | null> {
    const verdict = this.gate.check(`${API}/${environmentId}/${id}`);
    if (!verdict.ok) throw new Error(`ACME_BLOBS_URL: ${verdict.reason}`);
    const request = { method, url: verdict.url, headers, body, timeoutMs: 30_000, bodyBytesMax: BYTES_MAX };
    const answer = await this.agent.exchange(request);
    if (answer.kind === 'error') throw new Error(`Acme is not reachable: ${answer.detail}`);
    if (answer.status === 404) return null;
    if (answer.status > 299 || answer.truncated) throw new Error(`Acme answered ${answer.status}.`);
    return answer.body;
  }
}
