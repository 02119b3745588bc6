import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { Cache } from '#kernel/cache.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config.js';
import { clientMetadata, type OAuthClient } from './client-metadata.js';

const BYTES_MAX = 5_120;
const FETCH_MS_MAX = 5_000;
const ENTRIES_MAX = 1_000;
/** How long a document counts, and how long a fault does. */
const KEPT_MS = 3_600_000;
const FAULT_KEPT_MS = 60_000;

interface Known {
  client: OAuthClient | string;
  untilMs: number;
}

/**
 * Clients whose id is the URL of their metadata (OAuth Client ID Metadata Documents): fetched through the SSRF gate, without
 * redirects, and never shown but for what a client may say of itself.
 */
@Injectable()
export class ClientDocuments {
  private readonly known: Cache<Known>;

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {
    this.known = new Cache((url) => this.load(url), { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() });
  }

  /** Whether an id can be the URL of a document: https with a path, and nothing that two readers might read differently. */
  static isDocumentUrl(id: string): boolean {
    if (!id.startsWith('https://') || id.length > 500 || !URL.canParse(id)) return false;
    const { href, pathname, username, password, hash } = new URL(id);
    return href === id && pathname !== '/' && username === '' && password === '' && hash === '' && !id.includes('#');
  }

  /** The client, or a sentence that says why there is none. */
  async find(url: string): Promise<OAuthClient | string> {
    const found = await this.known.get(url);
    if (found.untilMs > this.clock.nowMs()) return found.client;
    this.known.drop(url);
    return (await this.known.get(url)).client;
  }

  private async load(url: string): Promise<Known> {
    const client = await this.download(url);
    return { client, untilMs: this.clock.nowMs() + (typeof client === 'string' ? FAULT_KEPT_MS : KEPT_MS) };
  }

  private async download(url: string): Promise<OAuthClient | string> {
    const verdict = this.gate.check(url);
    // Why an address is refused would tell strangers what our network looks like.
    if (!verdict.ok) return 'The client metadata document may not be fetched from there.';
    const answer = await this.agent.exchange({ method: 'GET', url: verdict.url, headers: { accept: 'application/json' }, body: null, timeoutMs: FETCH_MS_MAX, bodyBytesMax: BYTES_MAX + 1 });
    if (answer.kind === 'error' || answer.status !== 200) return 'The client metadata document could not be fetched.';
    if (answer.truncated || answer.body.length > BYTES_MAX) return `The client metadata document is larger than ${BYTES_MAX} bytes.`;
    if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(answer.headers['content-type'] ?? '')) return 'The client metadata document is not JSON.';
    return clientIn(answer.body.toString('utf8'), url, this.config.oauthRedirectSchemes);
  }
}

function clientIn(text: string, url: string, schemes: readonly string[]): OAuthClient | string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return 'The client metadata document is not JSON.';
  }
  if ((document as { client_id?: unknown } | null)?.client_id !== url) return 'The client metadata document names another client_id than its own address.';
  const metadata = clientMetadata(document, schemes);
  return 'fault' in metadata ? `The client metadata document cannot be used: ${metadata.fault}` : { id: url, isDocument: true, ...metadata };
}
