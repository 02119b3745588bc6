import type { EgressAgent } from '#egress/agent.js';
import type { EgressGate } from '#egress/gate.js';
import { Clock } from '#kernel/clock.js';
import type { Config } from '#kernel/config/config.js';
import { ClientDocuments } from './client-documents.js';

const ENDPOINT_URL = 'https://client.example.com/client.json';

class FakeClock extends Clock {
  ms = 1_000_000;

  override now(): Date {
    return new Date(this.ms);
  }

  override nowMs(): number {
    return this.ms;
  }

  override random(): number {
    return 0;
  }

  advance(ms: number): void {
    this.ms += ms;
  }
}

interface Answers {
  status?: number;
  cacheControl?: string;
}

function served(answers: Answers = {}): {
  documents: ClientDocuments;
  clock: FakeClock;
  fetched: string[];
  answers: Answers;
} {
  const clock = new FakeClock();
  const fetched: string[] = [];
  const agent = {
    exchange: async ({ url }: { url: URL }) => {
      fetched.push(url.href);
      await Promise.resolve();
      return {
        kind: 'response',
        status: answers.status ?? 200,
        truncated: false,
        durationMs: 1,
        headers: {
          'content-type': 'application/json',
          ...(answers.cacheControl !== undefined && { 'cache-control': answers.cacheControl }),
        },
        body: Buffer.from(
          JSON.stringify({
            client_id: url.href,
            client_name: `The ${fetched.length}.`,
            redirect_uris: ['https://client.example.com/cb'],
          }),
        ),
      };
    },
  };
  const gate = { check: (url: string) => ({ ok: true, url: new URL(url) }) };
  const documents = new ClientDocuments(
    agent as unknown as EgressAgent,
    gate as unknown as EgressGate,
    { oauthRedirectSchemes: [] } as unknown as Config,
    clock,
  );
  return { documents, clock, fetched, answers };
}

describe('client metadata documents', () => {
  it('a document is downloaded at most once an hour', async () => {
    const { documents, clock, fetched } = served();

    await documents.find(ENDPOINT_URL);
    clock.advance(3_599_999);
    const kept = await documents.find(ENDPOINT_URL);
    clock.advance(1);
    const again = await documents.find(ENDPOINT_URL);

    expect([kept, again]).toMatchObject([{ name: 'The 1.' }, { name: 'The 2.' }]);
    expect(fetched).toHaveLength(2);
  });

  it.each<[string, number]>([
    ['max-age=900', 900],
    ['no-store', 300],
    ['max-age=1', 300],
    ['max-age=86400', 3_600],
  ])('with Cache-Control "%s", a document is cached for %d s', async (cacheControl, seconds) => {
    const { documents, clock, fetched } = served({ cacheControl });

    await documents.find(ENDPOINT_URL);
    clock.advance(seconds * 1000 - 1);
    await documents.find(ENDPOINT_URL);
    const before = fetched.length;
    clock.advance(1);
    await documents.find(ENDPOINT_URL);

    expect([before, fetched.length]).toEqual([1, 2]);
  });

  it('an error is cached for 30 s, whatever its Cache-Control says', async () => {
    const { documents, clock, fetched, answers } = served({ status: 503, cacheControl: 'max-age=3600' });

    const first = await documents.find(ENDPOINT_URL);
    answers.status = 200;
    clock.advance(29_999);
    const soon = await documents.find(ENDPOINT_URL);
    clock.advance(1);
    const mended = await documents.find(ENDPOINT_URL);

    expect([first, soon]).toEqual([
      expect.stringMatching(/could not be fetched/),
      expect.stringMatching(/could not be fetched/),
    ]);
    expect(mended).toMatchObject({ name: 'The 2.' });
    expect(fetched).toHaveLength(2);
  });

  it('concurrent lookups share one download', async () => {
    const { documents, fetched } = served();

    await Promise.all(Array.from({ length: 20 }, () => documents.find(ENDPOINT_URL)));

    expect(fetched).toHaveLength(1);
  });

  it('at most 1,000 documents are cached: the oldest is evicted', async () => {
    const { documents, fetched } = served();
    const place = (i: number): string => `https://client.example.com/${i}.json`;
    for (let i = 0; i <= 1_000; i += 1) await documents.find(place(i));

    await documents.find(place(1));
    const kept = fetched.length;
    await documents.find(place(0));

    expect([kept, fetched.length]).toEqual([1_001, 1_002]);
  });

  it.each(['https://a;b.example/c', 'https://a,b.example/c', "https://'none'.example/c"])(
    '%s names no document',
    (id) => {
      expect(ClientDocuments.isDocumentUrl(id)).toBe(false);
    },
  );
});
