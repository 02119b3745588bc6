import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { clientMetadata, type OAuthClient } from './client-metadata.js';
import { keptSeconds } from './kept-seconds.js';
import { isHost } from './redirect-uris.js';

const BYTES_MAX = 5_120;
const FETCH_MS_MAX = 5_000;
const ENTRIES_MAX = 1_000;
/** Cache time of an invalid document. Short, so that developers soon see the effect of a correction. */
const FAULT_KEPT_MS = 30_000;

interface Known {
  client: OAuthClient | string;
  untilMs: number;
}

/** Result of a download: the client or an error message, and the time for which to cache it. */
interface Downloaded {
  client: OAuthClient | string;
  keptMs: number;
}

/**
 * Clients whose id is the URL of their metadata (OAuth Client ID Metadata Documents). Documents are fetched through the
 * SSRF protection, without redirects. Their metadata is validated before users see it.
 */
@Injectable()
export class ClientDocuments {
  /**
   * Cached clients, oldest first. The class `Cache` cannot be used: it has one lifetime for all entries, but each
   * document specifies its own.
   */
  private readonly known = new Map<string, Known>();
  private readonly loading = new Map<string, Promise<OAuthClient | string>>();

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /** Returns whether the id is an https URL in normalized form, with a path, and without credentials or a fragment. */
  static isDocumentUrl(id: string): boolean {
    if (!id.startsWith('https://') || id.length > 500 || !URL.canParse(id)) return false;
    const { href, hostname, pathname, username, password, hash } = new URL(id);
    return (
      href === id &&
      isHost(hostname) &&
      pathname !== '/' &&
      username === '' &&
      password === '' &&
      hash === '' &&
      !id.includes('#')
    );
  }

  /** Returns the client, or an error message if there is none. Concurrent calls share one download. */
  async find(url: string): Promise<OAuthClient | string> {
    const found = this.known.get(url);
    if (found !== undefined && found.untilMs > this.clock.monotonicMs()) return found.client;
    const running = this.loading.get(url);
    if (running !== undefined) return running;
    const load = this.load(url).finally(() => this.loading.delete(url));
    this.loading.set(url, load);
    return load;
  }

  private async load(url: string): Promise<OAuthClient | string> {
    const { client, keptMs } = await this.download(url);
    this.known.delete(url);
    this.known.set(url, { client, untilMs: this.clock.monotonicMs() + keptMs });
    const [oldest] = this.known.keys();
    if (this.known.size > ENTRIES_MAX && oldest !== undefined) this.known.delete(oldest);
    return client;
  }

  private async download(url: string): Promise<Downloaded> {
    const verdict = this.gate.check(url);
    // The error does not say why the URL is not allowed, because the reason could reveal the structure of Posthorn's
    // network.
    if (!verdict.ok) return fault('The client metadata document may not be fetched from there.');
    const answer = await this.agent.exchange({
      method: 'GET',
      url: verdict.url,
      headers: { accept: 'application/json' },
      body: null,
      timeoutMs: FETCH_MS_MAX,
      bodyBytesMax: BYTES_MAX + 1,
    });
    if (answer.kind === 'error' || answer.status !== 200)
      return fault('The client metadata document could not be fetched.');
    if (answer.truncated || answer.body.length > BYTES_MAX)
      return fault(`The client metadata document is larger than ${BYTES_MAX} bytes.`);
    if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(answer.headers['content-type'] ?? ''))
      return fault('The client metadata document is not JSON.');
    const client = clientIn(answer.body.toString('utf8'), url, this.config.oauthRedirectSchemes);
    return typeof client === 'string'
      ? fault(client)
      : { client, keptMs: keptSeconds(answer.headers['cache-control']) * 1000 };
  }
}

function fault(client: string): Downloaded {
  return { client, keptMs: FAULT_KEPT_MS };
}

function clientIn(text: string, url: string, schemes: readonly string[]): OAuthClient | string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return 'The client metadata document is not JSON.';
  }
  if ((document as { client_id?: unknown } | null)?.client_id !== url)
    return 'The client metadata document names another client_id than its own address.';
  const metadata = clientMetadata(document, schemes);
  return 'fault' in metadata
    ? `The client metadata document cannot be used: ${metadata.fault}`
    : { id: url, isDocument: true, ...metadata };
}
