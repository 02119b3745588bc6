import { VERSION } from '../../src/kernel/version.js';
import type { Receiver } from '../support/receiver.js';
import { startReceiver } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { REQUEST_ID } from './answers.js';
import { until } from './polling.js';
import type { Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  expectStatus,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  WITHIN_MS,
} from './scene.js';

/** A span in the JSON format of OTLP. */
interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}

describe('observability for the operator', () => {
  let server: PosthornServer;
  let targets: Targets;
  let collector: Receiver;

  beforeAll(async () => {
    targets = await startTargets();
    collector = await startReceiver();
    server = await startServer({
      LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'hooks',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
    });
  });

  afterAll(async () => {
    await server.stop();
    await collector.close();
    await targets.close();
  });

  const metrics = async ({ url } = server): Promise<string> => {
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    return response.text();
  };

  /** Returns the value of one metric series, or 0 if the series does not exist yet. */
  const valueOf = async (series: string, of = server): Promise<number> => {
    const line = (await metrics(of)).split('\n').find((text) => text.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length + 1));
  };

  describe('GET /metrics', () => {
    it('has every documented metric, each with a help text and a type', async () => {
      const text = await metrics();

      const families: [string, string][] = [
        ['posthorn_events_accepted_total', 'counter'],
        ['posthorn_deliveries_total', 'counter'],
        ['posthorn_attempt_duration_seconds', 'histogram'],
        ['posthorn_claims_lost_total', 'counter'],
        ['posthorn_ingest_requests_total', 'counter'],
        ['posthorn_pull_items_read_total', 'counter'],
        ['posthorn_rollup_oldest_part_age_seconds', 'gauge'],
        ['posthorn_system_events_told_total', 'counter'],
        ['posthorn_system_signals_waiting', 'gauge'],
        ['posthorn_system_signals_oldest_age_seconds', 'gauge'],
        ['posthorn_circuits_open', 'gauge'],
        ['posthorn_deliveries_running', 'gauge'],
        ['posthorn_deliveries_held', 'gauge'],
        ['posthorn_targets_held_back', 'gauge'],
        ['posthorn_loop_last_turn_timestamp_seconds', 'gauge'],
        ['posthorn_oldest_due_age_seconds', 'gauge'],
        ['posthorn_database_connections', 'gauge'],
        ['posthorn_build_info', 'gauge'],
        ['nodejs_eventloop_lag_seconds', 'gauge'],
        ['process_resident_memory_bytes', 'gauge'],
      ];
      for (const [name, type] of families) {
        expect(text).toMatch(new RegExp(`^# HELP ${name} \\S.*$`, 'm'));
        expect(text).toContain(`# TYPE ${name} ${type}\n`);
      }
      expect(text).toContain(`posthorn_build_info{version="${VERSION}",node="${process.version}"} 1\n`);
      for (const pool of ['ordinary', 'ledger'])
        expect(text).toMatch(new RegExp(`^posthorn_database_connections\\{pool="${pool}",state="idle"\\} \\d`, 'm'));
      for (const loop of ['Dispatcher', 'Pump'])
        expect(text).toMatch(new RegExp(`^posthorn_loop_last_turn_timestamp_seconds\\{loop="${loop}"\\} \\d`, 'm'));
    });

    // Checks the metrics with the rules of `promtool check metrics`, which operators run.
    it('has names that the linter of Prometheus accepts', async () => {
      const text = await metrics();
      const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({ name, type }));
      const ABBREVIATED = /(?:^|_)(?:s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d)(?:_|$)/;
      const NOT_BASE =
        /(?:^|_)(?:milliseconds?|microseconds?|nanoseconds?|minutes?|hours?|days?|weeks?|bits?|kilobytes?|megabytes?|gigabytes?|fahrenheit|kelvins?|percent|inch(?:es)?|miles?)(?:_|$)/;

      expect(families.length).toBeGreaterThan(30);
      expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
      for (const { name, type } of families) {
        expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
        expect({ name, isCounter: name.endsWith('_total') }).toEqual({ name, isCounter: type === 'counter' });
        expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
        expect(name).not.toMatch(ABBREVIATED);
        expect(name).not.toMatch(NOT_BASE);
        expect(name).not.toMatch(/_(?:gauge|counter|histogram|summary)(?:_|$)/);
        expect(name).not.toMatch(/_(?:bucket|count|sum|info_info)$/);
      }
    });

    it('counts accepted events, their outcomes, and the durations of attempts', async () => {
      const names = [
        'posthorn_events_accepted_total',
        'posthorn_attempt_duration_seconds_count',
        ...['delivered', 'retrying', 'dlq', 'failed'].map(
          (outcome) => `posthorn_deliveries_total{outcome="${outcome}"}`,
        ),
      ];
      const values = (): Promise<number[]> => Promise.all(names.map((name) => valueOf(name)));
      const before = await values();
      const at = (status: number, settings: object): Promise<string> =>
        destinationAt(server, targets.open(() => ({ status })).url, settings);

      await eventIn(server, await send(server, await at(200, RARE_RETRIES)), 'delivered');
      await eventIn(server, await send(server, await at(200, RARE_RETRIES)), 'delivered');
      await eventAfter(server, await send(server, await at(500, RARE_RETRIES)), 1);
      await eventIn(server, await send(server, await at(500, { ...RARE_RETRIES, retry: { max_attempts: 1 } })), 'dlq');
      await eventIn(server, await send(server, await at(410, RARE_RETRIES)), 'failed');

      const after = await values();
      expect(after.map((value, i) => value - (before[i] as number))).toEqual([5, 5, 2, 1, 1, 1]);
    });

    it('counts open circuits', async () => {
      const target = targets.open(() => ({ status: 500 }));
      const config = { circuit_breaker: { failure_threshold: 1 } };
      const destination = await destinationAt(server, target.url, { ...RARE_RETRIES, config });
      expect(await valueOf('posthorn_circuits_open')).toBe(0);

      await send(server, destination);

      await until(
        () => valueOf('posthorn_circuits_open'),
        (open) => open === 1,
        WITHIN_MS,
      );
      expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'active' }), 200);
      await until(
        () => valueOf('posthorn_circuits_open'),
        (open) => open === 0,
        WITHIN_MS,
      );
    });

    it('shows the attempts in flight', async () => {
      const release: (() => void)[] = [];
      const target = targets.open(() => new Promise((resolve) => release.push(() => resolve({}))));

      const sent = await sendMany(server, target.url, 5);

      await target.arrived(5);
      expect(await valueOf('posthorn_deliveries_running')).toBe(5);
      for (const answer of release) answer();
      for (const messageId of sent) await eventIn(server, messageId, 'delivered');
      await until(
        () => valueOf('posthorn_deliveries_held'),
        (held) => held === 0,
        WITHIN_MS,
      );
    });
  });

  it('/health/ready and /metrics show the age of the oldest due delivery that no worker has claimed', async () => {
    const idle = await startServer({ ROLE: 'api' });
    const itsSql = openSql(idle);
    try {
      const ready = async (): Promise<number> =>
        (
          (await (await fetch(`${idle.url}/health/ready`)).json()) as {
            parts: { storage: { oldest_due_age_ms: number } };
          }
        ).parts.storage.oldest_due_age_ms;
      const before = await ready();
      await send(idle, targets.open().url);

      await itsSql.rows(`update due_deliveries set due_at = now() - interval '1 hour'`);

      expect(before).toBe(0);
      expect(await ready()).toBeGreaterThanOrEqual(3_600_000);
      expect(await valueOf('posthorn_oldest_due_age_seconds', idle)).toBeGreaterThanOrEqual(3600);
    } finally {
      await itsSql.close();
      await idle.stop();
    }
  });

  describe('traces', () => {
    const spans = (): Span[] =>
      collector.requests
        .filter(({ path }) => path === '/v1/traces')
        .flatMap(({ rawBody }) => {
          const { resourceSpans } = JSON.parse(rawBody.toString()) as {
            resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
          };
          return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
        });

    const traceOf = (traceId: string, count: number): Promise<Span[]> =>
      until(
        async () => spans().filter((span) => span.traceId === traceId),
        (found) => found.length >= count,
        WITHIN_MS,
      );

    it('of a send connects the acceptance, every attempt and the request to the receiver', async () => {
      const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
      const destination = await destinationAt(server, target.url, { ...RARE_RETRIES, retry: { schedule: [0, 0] } });
      const messageId = await send(server, destination);
      await eventIn(server, messageId, 'delivered');

      const logLines = target
        .posts()
        .map(({ headers }) => /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(String(headers['traceparent'])));
      const traceId = logLines[0]?.[1] as string;
      const found = await traceOf(traceId, 3);

      const accept = found.filter(({ name }) => name === 'posthorn.accept');
      const deliver = found.filter(({ name }) => name === 'posthorn.deliver');
      expect([accept.length, deliver.length]).toEqual([1, 2]);
      expect(deliver.map(({ parentSpanId }) => parentSpanId)).toEqual([accept[0]?.spanId, accept[0]?.spanId]);
      expect(logLines.map((match) => match?.[1])).toEqual([traceId, traceId]);
      expect(new Set(logLines.map((match) => match?.[2]))).toEqual(new Set(deliver.map(({ spanId }) => spanId)));
      const outcomes = deliver.map(
        ({ attributes }) => attributes.find(({ key }) => key === 'posthorn.outcome')?.value.stringValue,
      );
      expect(new Set(outcomes)).toEqual(new Set(['failed', 'success']));
      const of = (span: Span | undefined): Record<string, unknown> =>
        Object.fromEntries(
          (span?.attributes ?? []).map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
        );
      expect(of(accept[0])).toMatchObject({ 'messaging.message.id': messageId, 'posthorn.event_type': 'test.sent' });
      const { hostname, port } = new URL(target.url);
      const [first, second] = deliver
        .map(of)
        .sort((a, b) => Number(a['posthorn.attempt.number']) - Number(b['posthorn.attempt.number']));
      const both = {
        'messaging.message.id': messageId,
        'posthorn.event.id': messageId.replace('msg_', 'evt_'),
        'posthorn.destination.id': destination,
        'url.scheme': 'http',
        'server.address': hostname,
        'server.port': Number(port),
      };
      expect(first).toMatchObject({
        ...both,
        'posthorn.attempt.number': 1,
        'http.response.status_code': 500,
        'error.type': '500',
      });
      expect(second).toMatchObject({
        ...both,
        'posthorn.attempt.number': 2,
        'http.response.status_code': 200,
        'http.request.resend_count': 1,
      });
      expect(
        collector.requests.some(
          ({ rawBody }) =>
            /"service\.name","value":\{"stringValue":"hooks"\}.*"deployment\.environment\.name","value":\{"stringValue":"staging"/.test(
              rawBody.toString(),
            ) ||
            /"deployment\.environment\.name","value":\{"stringValue":"staging"\}.*"service\.name","value":\{"stringValue":"hooks"/.test(
              rawBody.toString(),
            ),
        ),
      ).toBe(true);
      expect(collector.requests.some(({ rawBody }) => rawBody.toString().includes(new URL(target.url).pathname))).toBe(
        false,
      );
    });

    it('ends the acceptance of a message that is not accepted', async () => {
      const target = targets.open();
      const traceId = '4bf92f3577b34da6a3ce929d0e0e4737';
      const key = { 'idempotency-key': '019aa4c0-0000-4000-8000-000000000001' };
      const post = (payload: object, parentId: string) =>
        server.api(
          'POST',
          '/v1/send',
          { destination: target.url, event_type: 'a', payload },
          {
            ...key,
            traceparent: `00-${traceId}-${parentId}-01`,
          },
        );

      const parents = ['00f067aa0ba902b1', '00f067aa0ba902b2', '00f067aa0ba902b3'] as const;
      expectStatus(await post({}, parents[0]), 202);
      expectStatus(await post({}, parents[1]), 202);
      expectStatus(await post({ other: true }, parents[2]), 409);

      const found = await traceOf(traceId, 4);
      const results = parents.map((parent) => {
        const attributes = found.find(({ parentSpanId }) => parentSpanId === parent)?.attributes ?? [];
        const of = (wanted: string): unknown => attributes.find(({ key }) => key === wanted)?.value.stringValue;
        return [of('posthorn.outcome'), of('error.type')];
      });
      expect(results).toEqual([
        ['accepted', undefined],
        ['duplicate', undefined],
        ['failed', 'conflict'],
      ]);
    });

    it('continues the trace of the caller', async () => {
      const target = targets.open();
      const [traceId, parentId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

      const answer = await server.api(
        'POST',
        '/v1/send',
        { destination: target.url, event_type: 'a', payload: {} },
        { traceparent: `00-${traceId}-${parentId}-01` },
      );

      expectStatus(answer, 202);
      const [post] = await target.arrived(1);
      expect(post?.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-(?!${parentId})[0-9a-f]{16}-01$`));
      const found = await traceOf(traceId, 2);
      expect(found.find(({ name }) => name === 'posthorn.accept')?.parentSpanId).toBe(parentId);
    });
  });

  it('each attempt that fails or ends a delivery is a log line with its ids; the line of the request that created the message has them too', async () => {
    const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
    const destination = await destinationAt(server, target.url, { ...RARE_RETRIES, retry: { schedule: [0, 0] } });
    const answer = expectStatus(
      await server.api('POST', '/v1/send', { destination, event_type: 'a', payload: {} }),
      202,
    );
    const { message_id: message } = answer.json;
    const inlet = expectStatus(
      await server.api('POST', '/v1/endpoints', { slug: 'told', destinations: [destination] }),
      201,
    ).json;
    const received = await fetch(inlet.url, { method: 'POST', body: '{}' });
    const { id: event } = (await received.json()) as { id: string };

    const entries = (): Record<string, unknown>[] =>
      server
        .logs()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
    const logLines = (id: string): Record<string, unknown>[] =>
      entries().filter((entry) => entry['context'] === 'delivery' && entry['event'] === id);
    const own = message.replace('msg_', 'evt_');
    await until(
      async () => [...logLines(own), ...logLines(event)],
      (lines) => lines.length >= 3,
      WITHIN_MS,
    );

    const { host } = new URL(target.url);
    const ids = { level: 30, message, event: own, request_id: answer.headers.get('x-request-id'), destination, host };
    expect(logLines(own)).toEqual([
      expect.objectContaining({
        ...ids,
        msg: 'Delivery failed',
        status: 'retrying',
        attempt: 1,
        http_status: 500,
        next_attempt_in_ms: expect.any(Number),
      }),
      expect.objectContaining({
        ...ids,
        msg: 'Delivered',
        status: 'delivered',
        attempt: 2,
        http_status: 200,
        duration_ms: expect.any(Number),
      }),
    ]);
    expect(ids.request_id).toBe(message.replace('msg_', 'req_'));
    expect(logLines(event)).toEqual([
      expect.objectContaining({ request_id: received.headers.get('x-request-id'), destination, status: 'delivered' }),
    ]);
    expect(logLines(event)[0]).not.toHaveProperty('message');
    const keys = (await server.api('GET', '/v1/keys')).json.data as { id: string }[];
    await until(
      async () => entries().find((entry) => entry['request_id'] === ids.request_id && entry['context'] === 'http'),
      (line) => line !== undefined,
      WITHIN_MS,
    );
    expect(
      entries().find((entry) => entry['request_id'] === ids.request_id && entry['context'] === 'http'),
    ).toMatchObject({
      level: 20,
      msg: 'POST /v1/send 202',
      client_address: '127.0.0.1',
      key_id: expect.stringMatching(/^ek_/),
    });
    expect(keys.map(({ id }) => id)).toContain(
      entries().find((entry) => entry['request_id'] === ids.request_id)?.['key_id'] ?? keys[0]?.id,
    );
  });

  it('the log consists of JSON lines with request ids, and contains no key, secret, payload or forwarded header', async () => {
    const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 410, body: 'answer-of-receiver' }));
    const destination = await destinationAt(server, target.url, {
      ...RARE_RETRIES,
      retry: { schedule: [0, 0] },
      headers: { 'x-static': 'static-header-value' },
    });
    const secrets = [
      server.apiKey,
      server.env['MASTER_KEY'] as string,
      expectStatus(await server.api('GET', `/v1/destinations/${destination}/secret`), 200).json.secret as string,
      expectStatus(await server.api('GET', '/v1/signing-secret'), 200).json.secret as string,
      expectStatus(await server.api('POST', '/v1/keys', { name: 'A key', scope: 'read' }), 201).json.key as string,
      expectStatus(await server.api('POST', '/v1/signing-secret/rotate', {}), 200).json.secret as string,
    ];
    const failed = await send(server, destination, {
      payload: { card: 'payload-value' },
      headers: { authorization: 'Bearer forwarded-value' },
    });
    await eventIn(server, failed, 'failed');
    const unauthenticated = await server.api('GET', '/v1/events', undefined, {
      authorization: `Bearer ${server.apiKey}x`,
    });
    const signatures = target.posts().map(({ headers }) => String(headers['webhook-signature']));

    const requestId = unauthenticated.headers.get('x-request-id') as string;
    await until(
      async () => server.logs(),
      (logs) => logs.includes(requestId),
      WITHIN_MS,
    );
    const lines = server
      .logs()
      .split('\n')
      .filter((line) => line !== '');
    const [banner, entries] = [
      lines.filter((line) => !line.startsWith('{')),
      lines.filter((line) => line.startsWith('{')),
    ];
    expect(banner).toEqual([
      expect.stringMatching(/^Posthorn is listening on http:\/\/127\.0\.0\.1:\d+$/),
      `Base URL: ${server.url}`,
      expect.stringMatching(/^Swagger UI: http/),
    ]);
    const requests = entries
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ context }) => context === 'http');
    expect(requests.length).toBeGreaterThan(5);
    for (const { request_id: id } of requests) expect(id).toMatch(REQUEST_ID);
    expect(requests.find(({ request_id: id }) => id === requestId)).toMatchObject({ msg: 'GET /v1/events 401' });
    const kept = [
      ...secrets,
      ...secrets.map((secret) => secret.replace(/^(whsec_|ek_live_)/, '')),
      ...signatures,
      'static-header-value',
      'payload-value',
      'forwarded-value',
      'answer-of-receiver',
    ];
    expect(kept.filter((secret) => server.logs().includes(secret))).toEqual([]);
  });
});
