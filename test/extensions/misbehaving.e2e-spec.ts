import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expectInvalid, expectRefusal } from '../api/answers.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  expectStatus,
  RARE_RETRIES,
  send,
  startTargets,
  type Targets,
} from '../api/scene.js';
import { idIn, submit } from '../api/submitting.js';
import { ROOT } from '../architecture/source-tree.js';
import { freePort } from '../durability/processes.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** Compiled code of a destination type. Its settings select its behavior. */
const EXTENSION = `
import { Module } from '@nestjs/common';
import { AcceptancePolicy, Adapter, DeliveryListener, DestinationAdapter, NamedRetryPolicy, TokenAuthenticator } from 'posthorn';

const OK = { answer: { kind: 'response', status: 200, retryAfter: null }, durationMs: 1, excerpt: 'ok' };
const ACTS = {
  behave: () => OK,
  throw: () => { throw new Error('a bug, and a password: hunter2'); },
  reject: () => Promise.reject(new Error('a bug')),
  nothing: () => undefined,
  nan: () => ({ ...OK, answer: { ...OK.answer, status: NaN } }),
  seven: () => ({ ...OK, answer: { ...OK.answer, status: 7 } }),
  year: () => ({ ...OK, durationMs: 3e10 }),
  nul: () => ({ ...OK, excerpt: 'a\\0b\\ud800' }),
  huge: () => ({ ...OK, excerpt: 'x'.repeat(3_000_000) }),
  never: () => new Promise(() => undefined),
};

export class OddAdapter extends DestinationAdapter {
  type = 'odd';
  pulled = false;
  check({ config }) { return config.check ? ACTS[config.check]() : []; }
  async probe({ config }) { return config.probe ? ACTS[config.probe]() : { ok: true, detail: 'It is there.' }; }
  deliver(_outgoing, target) { return ACTS[target.config.act](); }
}
Adapter()(OddAdapter);

const RULINGS = {
  'policy.throw': () => { throw new Error('a bug, and a password: hunter2'); },
  'policy.never': () => new Promise(() => undefined),
  'policy.undefined': () => undefined,
  'policy.empty': () => ({ refuse: '' }),
  'policy.framing': () => ({ headers: { 'transfer-encoding': 'chunked' } }),
  'policy.unknown': () => ({ header: {} }),
};

const EMAIL_RULINGS = {
  recipients: () => ({ headers: { Bcc: 'evil@example.com' } }),
  halves: () => ({ headers: { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } }),
  mark: ({ to, cc, subject, attachments }) => ({ headers: { 'X-Seen': [to, cc, subject, attachments.length].join(' '), 'X-Team': 'policy' } }),
  content: ({ html, attachments }) => ({ headers: { 'X-Seen': JSON.stringify({ html, attachments }) } }),
};

export class OddPolicy extends AcceptancePolicy {
  rule({ kind, eventType, payload, headers }) {
    if (kind === 'email') return EMAIL_RULINGS[headers['x-act']]?.(JSON.parse(payload)) ?? null;
    return this.ruleOn(eventType);
  }
  ruleOn(eventType) { return RULINGS[eventType]?.() ?? (eventType in RULINGS ? undefined : null); }
}

export class OddListener extends DeliveryListener {
  delivered() { throw new Error('a listener with a bug'); }
  attemptFailed() { return Promise.reject(new Error('a listener that rejects')); }
}

const IDENTITIES = {
  throw: () => { throw new Error('the directory is away'); },
  never: () => new Promise(() => undefined),
  nonsense: () => ({ organization: 'org_1', mode: 'live', scope: 'god', subject: 'a' }),
};

export class OddTokens extends TokenAuthenticator {
  async identify(token) { return IDENTITIES[token] ? IDENTITIES[token]() : null; }
}

const WAITS = {
  throw: () => { throw new Error('a bug, and a password: hunter2'); },
  nan: () => NaN,
  negative: () => -1,
  huge: () => 1e12,
  promise: () => Promise.reject(new Error('a bug')),
  slow: () => { const end = performance.now() + 120; while (performance.now() < end); return 0; },
};

class OddRetryPolicy extends NamedRetryPolicy {
  description = 'Waits in odd ways.';
  maxAttempts = 3;
  scheduleSeconds = [0, 3600];
  delaySeconds() { return WAITS[this.name.slice(4)](); }
}

class OddGivingUp extends NamedRetryPolicy {
  name = 'odd-giving-up';
  description = 'Gives up at once.';
  maxAttempts = 3;
  scheduleSeconds = [0, 3600];
  isRetryable() { return false; }
}

const retryPolicies = Object.keys(WAITS).map((act) => ({ provide: 'ODD_' + act, useFactory: () => Object.assign(new OddRetryPolicy(), { name: 'odd-' + act }) }));

export default class OddModule {}
Module({ providers: [OddAdapter, OddPolicy, OddListener, OddTokens, OddGivingUp, ...retryPolicies] })(OddModule);
`;

describe('a misbehaving extension', () => {
  let folder: string;
  let server: PosthornServer;
  let targets: Targets;
  let database: TestDatabase;
  let submissionPort: number;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-odd-'));
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(path.join(folder, 'odd.js'), EXTENSION);
    mkdirSync(path.join(folder, 'node_modules', '@nestjs'), { recursive: true });
    symlinkSync(ROOT, path.join(folder, 'node_modules', 'posthorn'));
    symlinkSync(
      path.join(ROOT, 'node_modules', '@nestjs', 'common'),
      path.join(folder, 'node_modules', '@nestjs', 'common'),
    );
    [database, submissionPort] = await Promise.all([createDatabase(), freePort()]);
    [server, targets] = await Promise.all([
      startServer({
        EXTENSIONS: path.join(folder, 'odd.js'),
        DATABASE_URL: database.url,
        METRICS_PORT: String(await freePort()),
        SUBMISSION_PORT: String(submissionPort),
      }),
      startTargets(),
    ]);
  });

  afterAll(async () => {
    await Promise.all([server?.stop(), targets?.close()]);
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const body = (config: object): object => ({
    name: 'Odd',
    type: 'odd',
    timeout_ms: 1000,
    ...RARE_RETRIES,
    config: { ...RARE_RETRIES.config, ...config },
  });

  const failuresOf = async (policy: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${server.env['METRICS_PORT']}/metrics`)).text();
    return Number(
      new RegExp(`^posthorn_retry_policy_failures_total\\{policy="${policy}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0,
    );
  };

  const destinationThat = async (act: string): Promise<string> =>
    expectStatus(await server.api('POST', '/v1/destinations', body({ act })), 201).json.id as string;

  it.each([
    ['throws', 'throw', 'adapter', /The adapter of this type failed/],
    ['rejects', 'reject', 'adapter', /The adapter of this type failed/],
    ['answers nothing', 'nothing', 'adapter', /no valid answer/],
    ['answers a status that is no number', 'nan', 'adapter', /no valid answer/],
    ['answers status 7', 'seven', 'adapter', /no valid answer/],
    ['never answers', 'never', 'timeout', /did not end its attempt within 3000 ms/],
  ])('an adapter that %s fails the attempt, which is recorded', async (_what, act, error, excerpt) => {
    const id = await send(server, await destinationThat(act));

    const event = await eventAfter(server, id, 1);

    expect(event).toMatchObject({
      status: 'retrying',
      attempts: [{ status: null, error, response_excerpt: expect.stringMatching(excerpt) }],
    });
    expect(JSON.stringify(event)).not.toContain('hunter2');
  });

  it.each([
    ['a duration of a year', 'year', 'ok'],
    ['an excerpt with NUL and half a surrogate pair', 'nul', 'ab\ufffd'],
    ['an excerpt of 3 MB', 'huge', 'x'.repeat(1024)],
  ])(
    'an adapter that answers with %s delivers, and its result is stored in a valid form',
    async (_what, act, excerpt) => {
      const id = await send(server, await destinationThat(act));

      expect(await eventIn(server, id, 'delivered')).toMatchObject({
        attempts: [{ status: 200, error: null, response_excerpt: excerpt }],
      });
    },
  );

  it('does not affect the others of its group commit: each of them is delivered in one attempt', async () => {
    const target = targets.open();
    const healthy = await destinationAt(server, target.url);
    const odd = await Promise.all(['behave', 'throw', 'nan', 'nul', 'huge', 'never'].map(destinationThat));

    const [ids] = await Promise.all([
      Promise.all(Array.from({ length: 40 }, () => send(server, healthy))),
      ...odd.flatMap((id) => Array.from({ length: 5 }, () => send(server, id))),
    ]);

    await target.arrived(ids.length);
    for (const id of ids) expect((await eventIn(server, id, 'delivered')).attempts).toHaveLength(1);
  });

  const email = (headers: Record<string, string>): object => ({
    from: 'a@simulator.localhost',
    to: 'Ann <delivered@simulator.localhost>',
    cc: 'bounced@simulator.localhost',
    subject: 'Seen',
    text: 'x',
    attachments: [{ filename: 'a', content: 'YQ==' }],
    headers,
  });

  it.each([
    ['adds a recipient by a header', 'recipients'],
    ['adds half of a one-click unsubscription', 'halves'],
  ])('503: an email is not sent if a policy %s', async (_what, act) => {
    expectRefusal(await server.api('POST', '/v1/emails', email({ 'X-Act': act })), 503);

    expect((await server.api('GET', '/v1/emails')).json.data).toEqual([]);
  });

  it("202: a policy sees the fields of an email, and its headers replace the sender's, whatever their case", async () => {
    const { json } = expectStatus(
      await server.api('POST', '/v1/emails', email({ 'X-Act': 'mark', 'x-TEAM': 'mine', 'X-Own': 'stays' })),
      202,
    );

    const text = (await server.api('GET', `/v1/emails/${json.id}/raw`)).text.replaceAll(/\r\n[ \t]/g, ' ');
    expect(text).toMatch(/^X-Seen: Ann <delivered@simulator\.localhost> bounced@simulator\.localhost Seen 1\r$/im);
    expect([...text.matchAll(/^x-team: (.*)\r$/gim)].map(([, value]) => value)).toEqual(['policy']);
    expect(text).toMatch(/^X-Own: stays\r$/im);
  });

  it('policies decide on submitted messages, too: their headers replace those of the message, and a failure is 451', async () => {
    const message = (act: string): string =>
      [
        'From: a@simulator.localhost',
        'To: delivered@simulator.localhost',
        'Subject: Submitted',
        `X-Act: ${act}`,
        'x-TEAM: mine',
        '',
        'x',
      ].join('\r\n');
    const to = 'delivered@simulator.localhost';
    const refused = await submit(submissionPort, server.apiKey, to, message('recipients'));

    expect(refused).toMatch(/^451 4\.3\.0 .*could not decide/);
    const id = idIn(await submit(submissionPort, server.apiKey, to, message('mark')));
    const { text } = await server.api('GET', `/v1/emails/${id}/raw`);
    expect(text).toMatch(/^X-Seen: delivered@simulator\.localhost\s+Submitted 0\r$/im);
    expect([...text.matchAll(/^x-team: (.*)\r$/gim)].map(([, value]) => value)).toEqual(['policy']);
  });

  it('554: a header of a policy that is too long for a line is refused before the message is accepted', async () => {
    const to = 'delivered@simulator.localhost';
    // The policy copies the recipient and the subject into its header.
    const subject = `${'word '.repeat(196)}\r\n end`;
    const message = ['From: a@simulator.localhost', `To: ${to}`, `Subject: ${subject}`, 'X-Act: mark', '', 'x'];

    expect(await submit(submissionPort, server.apiKey, to, message.join('\r\n'))).toMatch(
      /^554 5\.6\.0 .*longer than 998 bytes/,
    );
  });

  it('policies see the files of a submitted message, and every body behind more than 64 parts', async () => {
    const to = 'delivered@simulator.localhost';
    const part = (...lines: string[]): string[] => ['--b', ...lines];
    const message = [
      'From: a@simulator.localhost',
      `To: ${to}`,
      'Subject: Files',
      'X-Act: content',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      ...Array.from({ length: 70 }, () => part('', 'text')).flat(),
      ...part('Content-Type: text/html', 'Content-Disposition: attachment; filename=b.html', '', '<p>file</p>'),
      ...part('Content-Type: text/html', '', '<p>last</p>'),
      ...part('Content-Type: text/html', '', '<p>more</p>'),
      ...part('Content-Type: application/pdf; name=a.pdf', 'Content-Transfer-Encoding: base64', '', 'AAAA'),
      '--b--',
    ].join('\r\n');

    const id = idIn(await submit(submissionPort, server.apiKey, to, message));

    const { text } = await server.api('GET', `/v1/emails/${id}/raw`);
    expect(JSON.parse(/^X-Seen: (.*)\r$/im.exec(text)?.[1] ?? 'null')).toEqual({
      html: '<p>last</p>\n<p>more</p>',
      attachments: [
        { filename: 'b.html', content_type: 'text/html', size_bytes: 11 },
        { filename: 'a.pdf', content_type: 'application/pdf', size_bytes: 3 },
      ],
    });
  });

  it.each([
    ['throws', 'policy.throw'],
    ['never rules', 'policy.never'],
    ['rules nothing', 'policy.undefined'],
    ['rejects without a reason', 'policy.empty'],
    ['adds a header that affects the framing of requests', 'policy.framing'],
    ['returns an unknown decision', 'policy.unknown'],
  ])('503: no request is accepted if a policy %s, and the same request may be repeated', async (_what, eventType) => {
    const sent = await server.api('POST', '/v1/send', {
      destination: await destinationThat('behave'),
      event_type: eventType,
      payload: {},
    });

    expectRefusal(sent, 503);
    expect(sent.headers.get('retry-after')).toBe('1');
    expect(sent.text).not.toContain('hunter2');
    expect((await server.api('GET', `/v1/events?event_type=${eventType}`)).json.data).toEqual([]);
  });

  it.each(['throw', 'nan', 'negative', 'huge', 'promise', 'slow'])(
    'a retry policy that goes wrong (%s) falls back to the schedule, is counted, and does not delay other deliveries',
    async (act) => {
      const target = targets.open(() => ({ status: 500 }));
      const destination = await destinationAt(server, target.url, {
        retry: { policy: `odd-${act}` },
        config: RARE_RETRIES.config,
      });

      const event = await eventAfter(server, await send(server, destination), 1);

      const waitMs =
        Date.parse(event.deliveries[0].next_attempt_at as string) - Date.parse(event.attempts[0].at as string);
      expect(event.status).toBe('retrying');
      expect(waitMs).toBeGreaterThanOrEqual(0);
      expect(waitMs).toBeLessThan(3_700_000);
      expect(await failuresOf(`odd-${act}`)).toBe(1);
      expect(event.attempts[0].response_excerpt ?? '').not.toContain('hunter2');
    },
  );

  it('a retry policy that ends the retries makes the delivery a dead letter', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const destination = await destinationAt(server, target.url, { retry: { policy: 'odd-giving-up' } });

    const event = await eventIn(server, await send(server, destination), 'dlq');

    expect(event.attempts).toHaveLength(1);
  });

  it('422: an unknown policy is rejected with a list of the known ones, for destinations and for endpoints of applications', async () => {
    const retry = { policy: 'nobody' };
    await server.api('POST', '/v1/app', { uid: 'shop' });
    const refusals = [
      await server.api('POST', '/v1/destinations', { name: 'A', type: 'pull', retry }),
      await server.api('PATCH', `/v1/destinations/${await destinationThat('behave')}`, { retry }),
      await server.api('POST', '/v1/app/shop/endpoints', { url: 'https://example.com/hook', retry }),
    ];

    for (const refusal of refusals) {
      expectInvalid(refusal, 'schema', 'retry.policy');
      expect(refusal.text).toContain('must be one of odd-giving-up, odd-huge, odd-nan');
    }
  });

  it.each([
    ['throws', 'throw'],
    ['never answers', 'never'],
    ['vouches for nonsense', 'nonsense'],
  ])('503: an authenticator grants no access if it %s, while API keys still work', async (_what, token) => {
    expectRefusal(await server.api('GET', '/v1/destinations', undefined, { authorization: `Bearer ${token}` }), 503);
    expectRefusal(await server.api('GET', '/v1/destinations', undefined, { authorization: 'Bearer stranger' }), 401);
    expectStatus(await server.api('GET', '/v1/destinations'), 200);
  });

  it.each([
    ['throws', { check: 'throw' }, 'schema', /adapter of this type failed/],
    ['answers nothing', { check: 'nothing' }, 'schema', /adapter of this type failed/],
    ['rejects', { check: 'reject' }, 'schema', /adapter of this type failed/],
    ['throws in its probe', { probe: 'throw' }, 'connectivity', /adapter of this type failed/],
    ['answers a probe without a result', { probe: 'nothing' }, 'connectivity', /adapter of this type failed/],
    ['never answers a probe', { probe: 'never' }, 'connectivity', /did not report within 12000 ms/],
  ])(
    '422: a target is not stored if its adapter %s, and the answer gives the reason',
    async (_what, config, check, reason) => {
      const [created, tried] = await Promise.all([
        server.api('POST', '/v1/destinations', body(config)),
        server.api('POST', '/v1/destinations/check', { type: 'odd', config }),
      ]);

      expectRefusal(created, 422);
      expect(created.json.error).toMatchObject({ message: expect.stringMatching(reason), details: { check } });
      expect(created.text).not.toContain('hunter2');
      expect(tried).toMatchObject({ status: 200, json: { ok: false, detail: expect.stringMatching(reason) } });
    },
  );

  describe('and leaves', () => {
    let plain: PosthornServer;
    let policed: string;
    let destination: string;
    let sent: string;

    beforeAll(async () => {
      policed = expectStatus(
        await server.api('POST', '/v1/destinations', {
          name: 'Left',
          type: 'pull',
          retry: { policy: 'odd-giving-up' },
        }),
        201,
      ).json.id as string;
      destination = expectStatus(
        await server.api('POST', '/v1/destinations', {
          ...body({ act: 'behave' }),
          retry: { schedule: [0, 1, 1, 1, 1, 1, 1, 1, 1, 1] },
        }),
        201,
      ).json.id as string;
      const { EXTENSIONS: _gone, ...bare } = server.env;
      await server.stop();
      plain = await startServer(bare);
    });

    afterAll(() => plain?.stop());

    it('a policy of a removed extension is reported for the resources that name it, and the default schedule applies', async () => {
      const shown = await plain.api('GET', `/v1/destinations/${policed}`);

      expect(expectStatus(shown, 200).json.retry).toEqual({
        policy: 'odd-giving-up',
        max_attempts: 8,
        schedule: [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000],
        policy_unserved:
          'Nothing brings the retry policy odd-giving-up here: the extension that did is not loaded, and the default schedule holds.',
      });
      expectStatus(await plain.api('PATCH', `/v1/destinations/${policed}`, { name: 'Still here' }), 200);
    });

    it('a type of a removed extension is reported for its destinations and in their attempts', async () => {
      const absence = 'Nothing serves destinations of type odd here: the extension that did is not loaded.';

      const shown = await plain.api('GET', `/v1/destinations/${destination}`);
      sent = await send(plain, destination);
      const failed = await eventAfter(plain, sent, 1);
      const validated = await plain.api('POST', `/v1/destinations/${destination}/validate`);

      expect(shown.json).toMatchObject({ type: 'odd', status: 'active', unserved: absence });
      expect(failed).toMatchObject({
        status: 'retrying',
        attempts: [{ status: null, error: 'adapter', response_excerpt: absence }],
      });
      expect(validated.json).toMatchObject({ validation: 'invalid', checks: { schema: false } });
    });

    it('when the extension is back, its policy and its type work again, and messages accepted meanwhile arrive', async () => {
      await plain.stop();
      server = await startServer(server.env);

      expect((await server.api('GET', `/v1/destinations/${policed}`)).json.retry).toEqual({
        policy: 'odd-giving-up',
        max_attempts: 3,
        schedule: [0, 3600],
      });
      expect((await server.api('GET', `/v1/destinations/${destination}`)).json.unserved).toBeNull();
      await eventIn(server, sent, 'delivered');
    });
  });
});
