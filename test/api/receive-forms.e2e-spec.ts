import { createHmac } from 'node:crypto';
import * as octokit from '@octokit/webhooks-methods';
import type { ReceivedRequest } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import type { Sent } from './receiving.js';
import { accepted, inbound, provide, requestOf, setSecret } from './receiving.js';
import { destinationAt, eventIn, eventOf, startTargets, type TargetPath, type Targets } from './scene.js';

const FORM = 'application/x-www-form-urlencoded';
const SECRET = 'It is a secret to everybody';
const ISSUE = { action: 'opened', issue: { number: 1, title: 'Spelling "error" & more' } };

/** Returns a request with the form as Node.js encodes it. */
async function multipart(fill: (form: FormData) => void): Promise<Sent & { body: Buffer }> {
  const form = new FormData();
  fill(form);
  const response = new Response(form);
  return {
    headers: { 'content-type': response.headers.get('content-type') ?? '' },
    body: Buffer.from(await response.arrayBuffer()),
  };
}

const encoded = (fields: Record<string, string> | [string, string][]): string => new URLSearchParams(fields).toString();

describe('forms at endpoints', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
  });

  afterAll(async () => {
    await targets?.close();
  });

  const delivered = async (target: TargetPath, id: string): Promise<ReceivedRequest> => {
    await eventIn(server, id, 'delivered');
    return target.posts().find(({ headers }) => headers['webhook-id'] === id) as ReceivedRequest;
  };

  it("200: GitHub's form is verified, typed by its payload, filtered by its JSON, and delivered byte for byte", async () => {
    const [opened, closed] = [targets.open(), targets.open()];
    const endpoint = await inbound(server, {
      preset: 'github',
      routes: [
        {
          destination: await destinationAt(server, opened.url),
          filter: { path: '$.action', op: 'eq', value: 'opened' },
        },
        {
          destination: await destinationAt(server, closed.url),
          filter: { path: '$.action', op: 'eq', value: 'closed' },
        },
      ],
    });
    await setSecret(server, endpoint, SECRET);
    const body = encoded({ payload: JSON.stringify(ISSUE) });

    const id = await accepted(server, endpoint, {
      body,
      headers: {
        'content-type': FORM,
        'x-github-event': 'issues',
        'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
        'x-hub-signature-256': await octokit.sign(SECRET, body),
      },
    });

    const post = await delivered(opened, id);
    expect(post.rawBody.toString()).toBe(body);
    expect(post.headers['content-type']).toBe(FORM);
    expect(await octokit.verify(SECRET, body, await octokit.sign(SECRET, post.rawBody.toString()))).toBe(true);
    expect(await eventOf(server, id)).toMatchObject({ event_type: 'issues.opened', deliveries: [{}] });
    expect(await requestOf(server, endpoint, id)).toMatchObject({ verified: true, body });
    expect(closed.posts()).toEqual([]);
  });

  it("200: Slack's button is typed, and its answer and transform read the payload", async () => {
    const target = targets.open();
    const endpoint = await inbound(server, {
      preset: 'slack',
      destinations: [await destinationAt(server, target.url)],
      transform: {
        engine: 'managed',
        code: 'export default ({form, ...event}) => ({...event, body: {user: JSON.parse(form.payload).user.id}})',
      },
      responseRules: {
        rules: [
          {
            when: { type: 'json', path: '$.type', op: 'eq', value: 'block_actions' },
            respond: { body: '{"text":"Hello {{body.user.id}}"}', headers: { 'content-type': 'application/json' } },
          },
        ],
      },
    });
    await setSecret(server, endpoint, SECRET);
    const body = encoded({ payload: JSON.stringify({ type: 'block_actions', user: { id: 'U12' }, actions: [] }) });
    const seconds = String(Math.floor(Date.now() / 1000));

    const answer = await provide(server, endpoint.at, {
      body,
      headers: {
        'content-type': FORM,
        'x-slack-request-timestamp': seconds,
        'x-slack-signature': `v0=${createHmac('sha256', SECRET).update(`v0:${seconds}:${body}`).digest('hex')}`,
      },
    });

    expect([answer.status, answer.json]).toEqual([200, { text: 'Hello U12' }]);
    const [post] = await target.arrived(1);
    expect(post?.headers['webhook-event-type']).toBe('block_actions');
    expect(JSON.parse(String(post?.rawBody))).toEqual({ user: 'U12' });
  });

  it("200: SendGrid's Inbound Parse is filtered by the fields of its multipart form, between and after files", async () => {
    const target = targets.open();
    const filter = {
      all: [
        { type: 'form', name: 'to', op: 'contains', value: 'support@' },
        { type: 'form', name: 'SPF', op: 'eq', value: 'pass' },
        { type: 'form', name: 'attachment1', op: 'absent' },
      ],
    };
    const endpoint = await inbound(server, {
      routes: [{ destination: await destinationAt(server, target.url), filter }],
    });
    const mail = (to: string): Promise<Sent & { body: Buffer }> =>
      multipart((form) => {
        form.append('headers', 'Received: by mx.sendgrid.net\r\nFrom: Zoë <zoe@example.com>');
        form.append('to', to);
        form.append('attachment1', new Blob([Buffer.alloc(300_000, 1)], { type: 'image/png' }), 'a.png');
        form.append('envelope', JSON.stringify({ to: [to], from: 'zoe@example.com' }));
        form.append('SPF', 'pass');
      });

    const sent = await mail('support@example.com');
    const id = await accepted(server, endpoint, sent);
    const other = await accepted(server, endpoint, await mail('sales@example.com'));

    expect((await delivered(target, id)).rawBody.equals(sent.body)).toBe(true);
    expect((await eventOf(server, other)).status).toBe('ignored');
  });

  it('all values of a repeated name reach filters, answers and code', async () => {
    const target = targets.open();
    const is = (type: string, name: string, value: string): object => ({ type, name, op: 'eq', value });
    const seconds = [is('form', 'a', '2'), is('query', 'q', '2'), is('header', 'x-h', '2')];
    const endpoint = await inbound(server, {
      routes: [
        {
          destination: await destinationAt(server, target.url),
          filter: { all: [is('query', 'q', '1'), is('query', 'q', '2'), is('header', 'x-h', '2')] },
        },
      ],
      responseRules: {
        rules: [
          {
            when: { all: [...seconds, is('form', 'a', '1')] },
            respond: {
              body: '{"a":{{form.a}},"q":{{query.q}},"b":{{form.b}}}',
              headers: { 'content-type': 'application/json' },
            },
          },
        ],
      },
      transform: {
        engine: 'managed',
        code: 'export default ({form, query, headers}) => ({headers, body: form.a.concat(query.q, headers["x-h"], form.b).join()})',
      },
    });

    const answer = await provide(server, `${endpoint.at}?q=1&q=2`, {
      body: 'a=1&b=3&a=2',
      headers: { 'content-type': FORM, 'x-h': ['1', '2'] },
    });

    expect(answer.json).toEqual({ a: ['1', '2'], q: ['1', '2'], b: '3' });
    const [post] = await target.arrived(1);
    expect(String(post?.rawBody)).toBe('1,2,1,2,1,2,3');
    expect(post?.headers['x-h']).toBe('1, 2');
  });
});
