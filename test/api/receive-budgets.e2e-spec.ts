import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { until } from './polling.js';
import type { Inbound } from './receiving.js';
import { accepted, inbound, json, provide, requestOf } from './receiving.js';
import type { TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, eventOf, expectStatus, startTargets } from './scene.js';

const body = (op: string, value: string): object => ({ type: 'body', op, value });
const WORDS = Array.from({ length: 8_000 }, (_, i) => `word ${i};`).join('');

/** Returns a filter condition that takes half a second of CPU time for the body `NOISE`. */
const dear = (n: number): object => body('matches', `a[ab]{${100 + n}}[^ab]`);
const NOISE = noise();

/** Returns pseudo-random text, because a regular expression would match repetitive text quickly. */
function noise(): string {
  let state = 12_345;
  return Array.from({ length: 131_000 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state & 0x10000 ? 'a' : 'b';
  }).join('');
}

describe('filters and rules on large requests', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  async function filtered(filter: object, settings: object = {}): Promise<{ endpoint: Inbound; target: TargetPath }> {
    const target = targets.open();
    const endpoint = await inbound(server, {
      routes: [{ destination: await destinationAt(server, target.url), filter }],
      ...settings,
    });
    return { endpoint, target };
  }

  const contains = { all: Array.from({ length: 63 }, (_, i) => body('contains', `word ${100 * i};`)) };

  it.each<[string, object]>([
    ['a harmless pattern on 90 KB', body('matches', 'word [0-9]+;word 7999;')],
    ['63 contains on 90 KB', contains],
    ['a repetitive search text', { not: body('contains', `${'a'.repeat(511)}b${'a'.repeat(512)}`) }],
  ])('200: %s is evaluated completely, and the event delivered', async (_what, filter) => {
    const { endpoint } = await filtered(filter);

    const id = await accepted(server, endpoint, { body: WORDS });

    await eventIn(server, id, 'delivered');
  });

  it('ignored: a filter that was evaluated completely and does not match', async () => {
    const { endpoint } = await filtered(body('matches', 'word [0-9]+;word 9999;'));

    expect(await eventOf(server, await accepted(server, endpoint, { body: WORDS }))).toMatchObject({
      status: 'ignored',
    });
  });

  it('the fiftieth of fifty rules responds', async () => {
    const rules = Array.from({ length: 50 }, (_, i) => ({
      when: { all: [contains, body('matches', i === 49 ? 'word 7999;' : `nothing [0-9]+ ${i}`)] },
      respond: { status: 201, body: `rule ${i}` },
    }));
    const { endpoint } = await filtered({ type: 'method', op: 'exists' }, { responseRules: { rules } });

    const answer = expectStatus(await provide(server, endpoint.at, { body: WORDS }), 201);

    expect(answer.text).toBe('rule 49');
  });

  it('parked: a filter that exceeds its time; event, request, response and metric say so, and other endpoints are served meanwhile', async () => {
    const { endpoint, target } = await filtered({ any: Array.from({ length: 64 }, (_, n) => dear(n)) });
    const neighbour = await filtered(body('matches', 'word [0-9]+;word 7999;'));
    let hasEnded = false;
    // Retries after a 503, as a provider does. On a busy machine, the filter may not get its ten seconds of CPU time.
    const answered = until(
      () => provide(server, endpoint.at, { body: NOISE }),
      ({ status }) => status !== 503,
      150_000,
    ).finally(() => (hasEnded = true));

    const id = await accepted(server, neighbour.endpoint, { body: WORDS });
    await accepted(server, neighbour.endpoint, json({ n: 1 }));

    await eventIn(server, id, 'delivered');
    expect(hasEnded).toBe(false);
    const { json: answer } = expectStatus(await answered, 200);
    expect(answer).toEqual({
      received: true,
      id: expect.any(String),
      parked: expect.stringContaining('filters took too long'),
    });
    expect(await eventOf(server, answer.id)).toMatchObject({ status: 'parked', deliveries: [] });
    expect((await requestOf(server, endpoint, answer.id)).note).toBe(answer.parked);
    expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(
      /posthorn_judgements_total\{kind="filters",outcome="undecided"\} 1/,
    );
    expect(target.posts()).toEqual([]);
  }, 180_000);
});
