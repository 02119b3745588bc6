import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createKey } from '../api/answers.js';
import { until } from '../api/polling.js';
import type { Targets } from '../api/scene.js';
import { destinationAt, eventIn, expectStatus, send, startTargets, WITHIN_MS } from '../api/scene.js';
import { freePort } from '../durability/processes.js';
import { command, type Ran, type Running, start } from '../support/command.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** The command line and the service, in separate processes. */
describe('posthorn', () => {
  let server: PosthornServer;
  let current: PosthornServer;
  let targets: Targets;
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ PORT: String(await freePort()), RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' });
    current = server;
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-cli-'));
    env = { HOME: folder, XDG_CONFIG_HOME: folder, POSTHORN_URL: server.url, POSTHORN_API_KEY: server.apiKey };
  });

  afterAll(async () => {
    if (current !== server) await current?.stop();
    await server?.stop();
    await targets?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const posthorn = (...args: string[]): Promise<Ran> => command(env, args);
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
  async function json(...args: string[]): Promise<any> {
    const { code, out, err } = await posthorn(...args, '--json');
    expect({ code, err }).toEqual({ code: 0, err });
    return JSON.parse(out);
  }
  /** Kills the service and restarts it on the same port and database. */
  async function restart(
    signal: NodeJS.Signals = 'SIGKILL',
    meanwhile: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    await current.kill(signal);
    await until(
      () =>
        fetch(`${server.url}/health/live`).then(
          () => false,
          () => true,
        ),
      (isGone) => isGone,
      WITHIN_MS,
    );
    await meanwhile();
    current = await startServer(server.env);
  }
  async function received(slug: string, init: RequestInit = {}, suffix = ''): Promise<string> {
    const { slug: organization } = (await server.api('GET', '/v1/org')).json;
    const answer = await fetch(`${server.url}/in/${organization}/${slug}${suffix}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"type":"invoice.paid"}',
      ...init,
    });
    return ((await answer.json()) as { id: string }).id;
  }

  it("the client's types are generated from the document of this very service", () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [path.join(ROOT, 'tools', 'generate-client.mjs'), server.url, '--check'],
      { cwd: ROOT, encoding: 'utf8' },
    );

    expect({ status, stderr: stderr.replace(/.*ExperimentalWarning.*\n.*\n/, '') }).toEqual({ status: 0, stderr: '' });
  });

  it('--help lists every command and the exit codes; a typo exits with 2', async () => {
    const help = await command({ HOME: folder }, ['--help']);
    const wrong = await posthorn('evnts');
    const option = await posthorn('events', 'list', '--nothing');
    const counts = await Promise.all([
      posthorn('destinations', '-n', 'many'),
      posthorn('events', '-n', '-1'),
      posthorn('send', 'https://example.com', 'a', '-H', 'none'),
    ]);

    expect(help.code).toBe(0);
    for (const word of [
      'login',
      'logout',
      'whoami',
      'send',
      'events',
      'replay',
      'recover',
      'cancel',
      'jobs',
      'destinations',
      'endpoints',
      'keys',
      'listen',
      'trigger',
      'mcp',
      'doctor',
      'completion',
      'migrate',
      'create-admin-key',
      'backup',
      'restore',
      'Exit codes',
    ])
      expect(help.out).toContain(word);
    expect([wrong.code, option.code, ...counts.map(({ code }) => code)]).toEqual([2, 2, 2, 2, 2]);
    expect(wrong.err).toContain('Did you mean events');
  });

  it('loads only its own files, Node.js, commander and openapi-fetch', () => {
    const files = ['cli', 'client'].flatMap((name) =>
      readdirSync(path.join(ROOT, 'dist', 'src', name), { recursive: true, encoding: 'utf8' }).map((file) =>
        path.join(ROOT, 'dist', 'src', name, file),
      ),
    );
    const imports = files
      .filter((file) => file.endsWith('.js'))
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/^(?:import|export) .*?from '([^']+)';$/gm)].map(
          ([, from = '']) => from,
        ),
      );

    expect(imports.length).toBeGreaterThan(50);
    expect([...new Set(imports.filter((from) => !from.startsWith('node:') && !from.startsWith('.')))].sort()).toEqual([
      'commander',
      'openapi-fetch',
    ]);
    expect(
      imports.filter((from) => from.startsWith('.') && /kernel|http|modules|engine(?!\/exact-json)/.test(from)),
    ).toEqual([]);
  });

  it('send, events and replay: a sent message is found with its attempts and its exact payload, and is delivered again', async () => {
    const target = targets.open();
    const destination = (await json('destinations', 'create', '--name', 'Billing', '--target', target.url))
      .id as string;
    const sent = await json(
      'send',
      destination,
      'invoice.paid',
      '-d',
      '{"amount":4200, "price":1.10, "id":12345678901234567890}',
      '-H',
      'X-Tenant: 42',
      '--wait',
    );
    const id = (sent.message_id as string).replace('msg', 'evt');
    const listed = await json('events', '--type', 'invoice.paid', '--destination', destination);
    const table = await posthorn('events', 'list', '--destination', destination);
    const attempts = await json('events', 'attempts', id);
    const payload = await posthorn('events', 'payload', id);
    const again = await posthorn('replay', id);
    await target.arrived(2);
    const there = await posthorn('replay', id, '--destination', destination);
    const elsewhere = await posthorn('replay', id, '--destination', 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1');
    await target.arrived(3);

    expect(sent).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(target.posts()[0]?.headers['x-tenant']).toBe('42');
    expect(listed.map((event: { id: string }) => event.id)).toEqual([id]);
    expect(table.out.split('\n')[0]).toMatch(/^ID +STATUS +TYPE +WHERE +RECEIVED$/);
    expect(table.out).toContain(id);
    // Without a terminal, the output contains no escape codes.
    expect(table.out).not.toMatch(/\x1b/);
    expect(attempts[0]).toMatchObject({ number: 1, status: 200 });
    // The output has the exact characters that were sent.
    expect(payload.out).toBe('{"amount":4200, "price":1.10, "id":12345678901234567890}');
    expect([again.code, there.code]).toEqual([0, 0]);
    expect(elsewhere).toMatchObject({
      code: 5,
      err: expect.stringContaining('is no destination that the event went to'),
    });
    expect(target.posts()[1]?.headers['webhook-replayed']).toBe('true');
  });

  it('exit codes: 3 for an invalid key, 4 for not found, 5 for a rejected request, 6 for a service that does not answer', async () => {
    const [noKey, badKey, absent, refused, away, noJson] = await Promise.all([
      command({ ...env, POSTHORN_API_KEY: '' }, ['events']),
      command({ ...env, POSTHORN_API_KEY: 'ek_live_x' }, ['events']),
      posthorn('events', 'get', 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'),
      posthorn('send', 'https://example.com', ''),
      command({ ...env, POSTHORN_URL: `http://127.0.0.1:${await freePort()}` }, ['whoami']),
      posthorn('send', 'https://example.com', 'a', '-d', '{'),
    ]);

    expect([noKey, badKey, absent, refused, away, noJson].map(({ code }) => code)).toEqual([3, 3, 4, 5, 6, 2]);
    expect([noKey, badKey, absent, refused, away, noJson].every(({ out, err }) => out === '' && err.length > 10)).toBe(
      true,
    );
  });

  it('shows which objects use a destination that cannot be deleted, and the whole error with --json', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const endpoint = { slug: 'uses-a-destination', preset: 'github', destinations: [destination] };
    const { id } = expectStatus(await server.api('POST', '/v1/endpoints', endpoint), 201).json;

    const text = await posthorn('destinations', 'delete', destination);
    const whole = await posthorn('destinations', 'delete', destination, '--json');

    expect(text).toMatchObject({
      code: 5,
      err: expect.stringMatching(new RegExp(`\\n {2}used_by: .*"endpoint":"${id}"`)),
    });
    expect(JSON.parse(whole.err)).toMatchObject({
      error: {
        type: 'conflict',
        status: 409,
        request_id: expect.any(String),
        details: { used_by: [{ kind: 'route', endpoint: id }] },
      },
    });
  });

  it.each(['events list', 'destinations list', 'endpoints list', 'keys list', 'jobs list'])(
    '%s rejects --limit 0 instead of showing an empty list',
    async (line) => {
      const { code, out, err } = await posthorn(...line.split(' '), '--limit', '0');

      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain('The number must be at least 1.');
    },
  );

  it.each(['events', 'whoami', 'doctor', 'listen --forward-to 3000', 'mcp', 'events tail'])(
    '%s rejects a key with a line break, and does not print it',
    async (line) => {
      const ran = await command(
        { ...env, POSTHORN_API_KEY: `${server.apiKey.slice(0, 20)}\n${server.apiKey.slice(20)}` },
        line.split(' '),
        '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
      );

      expect(ran.code).toBe(3);
      expect(ran.err).toContain('POSTHORN_API_KEY has a line break');
      for (const part of [server.apiKey.slice(8, 20), server.apiKey.slice(20)])
        expect(ran.out + ran.err).not.toContain(part);
    },
  );

  it('a key from a file with a trailing line break is valid', async () => {
    expect((await command({ ...env, POSTHORN_API_KEY: `${server.apiKey}\n` }, ['whoami'])).code).toBe(0);
  });

  it('keys, whoami and doctor', async () => {
    const key = (await json('keys', 'create', 'Reader')).key as string;
    const id = ((await json('keys')) as { id: string; name: string }[]).find(({ name }) => name === 'Reader')?.id ?? '';
    const who = await command({ ...env, POSTHORN_API_KEY: key }, ['whoami', '--json']);
    const forbidden = await command({ ...env, POSTHORN_API_KEY: key }, ['keys']);
    const sound = await json('doctor');
    expect(await posthorn('keys', 'revoke', id)).toMatchObject({ code: 0 });
    const broken = await command({ ...env, POSTHORN_API_KEY: key }, ['doctor']);

    expect(JSON.parse(who.out)).toMatchObject({
      url: server.url,
      environment: 'live',
      source: 'POSTHORN_API_KEY',
      key: `${key.slice(0, 12)}…`,
    });
    expect(who.out).not.toContain(key);
    expect(forbidden.code).toBe(3);
    expect((sound as { check: string; result: string }[]).filter(({ result }) => result === 'failed')).toEqual([]);
    expect((sound as { check: string }[]).map(({ check }) => check)).toEqual(
      expect.arrayContaining(['reachable', 'ready', 'version', 'key', 'domains', 'destinations', 'dead letters']),
    );
    expect(broken.code).toBe(1);
    expect(broken.out).toMatch(/failed +key/);
  });

  it('doctor: an open circuit and dead letters of the last hour are failures, a disabled destination is a warning, and it exits with 1', async () => {
    const failing = await destinationAt(server, targets.open(() => ({ status: 500 })).url, {
      name: 'Bro\u009bken',
      retry: { schedule: [0] },
      config: { circuit_breaker: { failure_threshold: 1 } },
    });
    const off = await destinationAt(server, targets.open().url, { name: 'Off' });
    expectStatus(await server.api('PATCH', `/v1/destinations/${off}`, { status: 'disabled' }), 200);
    await eventIn(server, await send(server, failing), 'dlq');
    await until(
      async () => (await server.api('GET', `/v1/metrics?key=${failing}&window=1m`)).json.data as { dlq: number }[],
      (data) => data.some(({ dlq }) => dlq > 0),
      WITHIN_MS,
    );

    const ran = await posthorn('doctor', '--json');
    const shown = await command(env, ['doctor']);

    const findings = JSON.parse(ran.out) as { check: string; result: string; message: string }[];
    const found = (of: string): string[] =>
      findings.filter(({ message }) => message.includes(of)).map(({ result, message }) => `${result} ${message}`);
    expect([ran.code, shown.code]).toEqual([1, 1]);
    expect(found(failing)).toEqual([
      expect.stringMatching(/^failed The circuit of .* has been open since /),
      expect.stringMatching(/^failed 1 deliveries to .* became dead letters within the last hour/),
    ]);
    expect(found(off)).toEqual([expect.stringMatching(/^warning Off .* is disabled: /)]);
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['ready', 'destinations', 'applications', 'dead letters']),
    );
    expect(shown.out).toContain('failed ');
    expect(shown.out + ran.out).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    expectStatus(await server.api('DELETE', `/v1/destinations/${failing}`), 204);
  });

  it('doctor: PLATFORM_DOMAIN on the host of BASE_URL is a warning, according to the settings of the service and not of the shell', async () => {
    const port = await freePort();
    const named = await startServer({
      ...server.env,
      ROLE: 'api',
      PORT: String(port),
      BASE_URL: `https://hooks.example.com`,
      PLATFORM_DOMAIN: 'hooks.example.com',
    });
    const hosts = async (url: string): Promise<{ result: string; message: string }[]> =>
      (
        JSON.parse(
          (await command({ ...env, POSTHORN_URL: url, PLATFORM_DOMAIN: 'elsewhere.example.com' }, ['doctor', '--json']))
            .out,
        ) as { check: string; result: string; message: string }[]
      ).filter(({ check }) => check === 'hosts');

    const [shared, unset] = [await hosts(`http://127.0.0.1:${port}`), await hosts(server.url)];
    await named.stop();

    expect(shared).toEqual([
      {
        check: 'hosts',
        result: 'warning',
        message: expect.stringContaining('PLATFORM_DOMAIN is the host of BASE_URL'),
      },
    ]);
    expect(unset).toEqual([]);
  });

  it('trigger: a signed sample of the requested type', async () => {
    const { id } = await json('endpoints', 'create', 'shop', '--preset', 'stripe');
    const unsigned = await posthorn('trigger', 'stripe', 'invoice.paid', '--endpoint', 'shop');
    expect([unsigned.code, unsigned.err]).toEqual([5, expect.stringContaining('posthorn endpoints secret')]);
    const file = path.join(folder, 'secret.txt');
    writeFileSync(file, 'whsec_test\n');
    expect((await posthorn('endpoints', 'secret', 'shop', '--', '-begins-with-a-dash')).code).toBe(0);
    expect(await json('endpoints', 'secret', 'shop', `@${file}`)).toEqual({ id, secret_set: true });
    const tested = await json('trigger', 'stripe', 'invoice.paid', '--endpoint', 'shop');
    const event = await json('events', 'get', tested.event_id);

    expect(tested).toMatchObject({ verified: true, status: 200 });
    expect(event).toMatchObject({ event_type: 'invoice.paid', direction: 'inbound' });
    expect((await posthorn('trigger', 'stripe', '--endpoint', 'nowhere')).code).toBe(4);
  });

  it('replay, recover and cancel by filter: they count, need a filter, run as a job with progress, and are listed by jobs', async () => {
    const target = targets.open((_post, index) => ({ status: index < 3 ? 500 : 200 }));
    const destination = await destinationAt(server, target.url, { retry: { schedule: [0] } });
    for (let i = 0; i < 3; i += 1) await eventIn(server, await send(server, destination), 'dlq');
    const [none, everything, mixed, many, counted, listed] = await Promise.all([
      posthorn('recover'),
      posthorn('cancel', '--all', '--destination', destination),
      posthorn('replay', 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', '--type', 'a', '--dry-run'),
      posthorn('recover', '--destination', destination, '--limit', 'many'),
      posthorn('recover', '--destination', destination, '--dry-run'),
      json('events', '--destination', destination, '--status', 'dlq,failed'),
    ]);
    const recovered = await posthorn(
      'recover',
      '--destination',
      destination,
      '--status',
      'dlq',
      '--limit',
      '2',
      '--wait',
    );
    await target.arrived(5);
    const replayed = await json('replay', '--destination', destination, '--wait');
    await target.arrived(8);
    const cancelled = await json('cancel', '--destination', destination);
    const [jobs, gone, stopped] = await Promise.all([
      json('jobs', '-n', '3'),
      posthorn('jobs', 'get', 'rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'),
      posthorn('jobs', 'stop', replayed.id),
    ]);

    expect([none, everything, mixed, many].map(({ code }) => code)).toEqual([2, 2, 2, 2]);
    expect([none.err, everything.err, mixed.err].join('')).toMatch(
      /a filter[^]*cannot be combined with filters[^]*omit --type/,
    );
    expect(counted).toMatchObject({ code: 0, out: '3 events would be delivered again where they failed.\n' });
    expect(listed).toHaveLength(3);
    expect(recovered).toMatchObject({
      code: 0,
      out: 'completed: 2 events, 2 deliveries.\n',
      err: expect.stringMatching(/^Job rpj_\w+ is running and continues without this command\./),
    });
    expect(replayed).toMatchObject({
      action: 'replay',
      state: 'completed',
      scanned: 3,
      enqueued: 3,
      filter: { destination },
    });
    expect(cancelled).toMatchObject({ action: 'cancel', kind: 'events' });
    expect(jobs.map(({ action }: { action: string }) => action)).toEqual(['cancel', 'replay', 'recover']);
    expect(await posthorn('jobs', 'get', cancelled.id, '--wait')).toMatchObject({
      code: 0,
      out: 'completed: 0 deliveries canceled.\n',
    });
    expect(gone.code).toBe(4);
    // The job had already ended, so there was nothing to stop.
    expect(stopped).toMatchObject({ code: 0, out: 'completed: 3 events, 3 deliveries.\n' });
  });

  it('cancel ID cancels the waiting deliveries of one event', async () => {
    const destination = await destinationAt(server, targets.open(() => ({ status: 500 })).url, {
      retry: { schedule: [0, 3_600] },
    });
    const id = (await send(server, destination)).replace('msg', 'evt');
    await until(
      async () => (await json('events', 'attempts', id)).length as number,
      (count) => count === 1,
      WITHIN_MS,
    );

    expect(await posthorn('cancel', id)).toMatchObject({ code: 0, out: '1 deliveries canceled.\n' });
    expect(await json('events', 'get', id)).toMatchObject({ status: 'failed' });
  });

  it('if a job is stopped, the command that waits for it prints its progress and exits with 1', async () => {
    const job = {
      id: 'rpj_1',
      kind: 'events',
      action: 'recover',
      total_estimate: 10_000,
      total_is_capped: true,
      scanned: 4000,
      replayed: 3990,
      enqueued: 3990,
      skipped: 7,
      excluded: 3,
      cancelled: null,
      error: null,
    };
    const states = ['running', 'stopped', 'stopped'];
    const service = createServer(
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ...job, state: states.shift() })),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => service.once('listening', resolve));
    const there = { ...env, POSTHORN_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}` };

    const people = await command(there, ['jobs', 'get', 'rpj_1', '--wait']);
    const program = await command(there, ['jobs', 'get', 'rpj_1', '--wait', '--json']);
    service.close();

    expect(people).toMatchObject({
      code: 1,
      out: 'stopped: 3990 events, 3990 deliveries, 7 skipped, 3 erased.\n',
      err: 'running: 4000 of 10000+\n',
    });
    expect([program.code, JSON.parse(program.out)]).toEqual([1, { ...job, state: 'stopped' }]);
  });

  it.each(['bash', 'zsh', 'fish'])('completion %s: a script, and the words that it requests', async (shell) => {
    const script = await posthorn('completion', shell);
    const words = await posthorn('completion', 'words', 'events');

    expect(script).toMatchObject({ code: 0, out: expect.stringContaining('posthorn completion words') });
    expect(words.out.split('\n')).toEqual(
      expect.arrayContaining(['list', 'get', 'attempts', 'payload', 'tail', '--json']),
    );
    for (const word of ['replay', 'recover', 'cancel'])
      expect((await posthorn('completion', 'words', word)).out.split('\n')).toEqual(
        expect.arrayContaining(['--application', '--error', '--dry-run', '--wait', '--limit']),
      );
    expect((await posthorn('completion', 'cmd')).code).toBe(2);
  });

  it('completion bash: completes in a shell', () => {
    const script = `PATH="${folder}:$PATH"; posthorn() { node ${ROOT}/dist/src/posthorn.js "$@"; }; source <(posthorn completion bash); COMP_WORDS=(posthorn events ta); COMP_CWORD=2; _posthorn; echo "\${COMPREPLY[@]}"`;

    expect(
      spawnSync('bash', ['-c', script], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] ?? '', HOME: folder },
      }).stdout.trim(),
    ).toBe('tail');
  });

  describe('events tail', () => {
    it('shows every event once over a kill and a stop of the service, including events from meanwhile', async () => {
      const target = targets.open();
      const destination = await destinationAt(server, target.url);
      const tail = start(env, ['events', 'tail', '--destination', destination, '--json']);
      await tail.said('Listening.');
      const messages = [await send(server, destination)];
      await tail.said(/"kind":"status"/);
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        await restart(signal);
        for (let i = 0; i < 5; i += 1) messages.push(await send(server, destination));
        for (const message of messages) await eventIn(server, message, 'delivered');
        await until(
          async () => tail.lines().filter(({ kind }) => kind === 'status').length,
          (count) => count >= messages.length,
          WITHIN_MS,
        );
      }
      await tail.stop();

      const shown = tail.lines().map(({ kind, event }) => `${kind} ${event.id.replace('evt', 'msg')}`);
      expect([...new Set(shown)].length).toBe(shown.length);
      expect(shown.sort()).toEqual(
        messages.flatMap((id) => [`accepted ${id}`, `attempt ${id}`, `status ${id}`]).sort(),
      );
      expect(tail.err).toContain('Connecting again');
    });

    it('exits with 3 when its key is revoked', async () => {
      const key = await createKey(server, { scope: 'read' });
      const tail = start({ ...env, POSTHORN_API_KEY: key.key }, ['events', 'tail']);
      await tail.said('Listening.');
      expectStatus(await server.api('DELETE', `/v1/keys/${key.id}`), 204);
      await until(
        async () => tail.child.exitCode,
        (code) => code !== null,
        WITHIN_MS,
      );

      expect(tail.child.exitCode).toBe(3);
      expect(tail.err).toContain('revoked');
    });
  });

  describe('listen', () => {
    interface Local {
      method: string;
      url: string;
      rawHeaders: string[];
      body: Buffer;
    }
    let local: Server;
    let arrived: Local[];
    let held: (() => void)[];
    let to: string;

    beforeAll(async () => {
      local = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () => {
            arrived.push({
              method: request.method ?? '',
              url: request.url ?? '',
              rawHeaders: request.rawHeaders,
              body: Buffer.concat(chunks),
            });
            const end = (): void =>
              void (
                response.headersSent ||
                response.writeHead(request.url?.includes('fail') === true ? 500 : 201).end('local')
              );
            if (request.url?.startsWith('/hold') === true) held.push(end);
            else end();
          });
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => local.once('listening', resolve));
      to = `http://127.0.0.1:${(local.address() as AddressInfo).port}`;
    });

    beforeEach(() => {
      arrived = [];
      held = [];
    });

    afterAll(() => {
      local.close();
      local.closeAllConnections();
    });

    const tunnel = async (args: string[]): Promise<Running> => {
      const running = start(env, [
        'listen',
        '--forward-to',
        `${to}/hook?mine=1`,
        '--json',
        '--concurrency',
        '1',
        ...args,
      ]);
      await running.said('Forwarding requests');
      return running;
    };
    const has = (count: number): Promise<unknown> =>
      until(
        async () => arrived.length,
        (length) => length >= count,
        WITHIN_MS,
      );

    it('forwards method, path, query, headers and body unchanged, and does not change the answer', async () => {
      await json('endpoints', 'create', 'tunnelled');
      const running = await tunnel(['--endpoint', 'tunnelled']);
      const body = Buffer.from([0, 255, 1, 10, 13, 128, 7]);
      const id = await received(
        'tunnelled',
        {
          method: 'PUT',
          headers: { 'content-type': 'application/octet-stream', 'X-Signature': 'v1=abc', 'stripe-signature': 't=1' },
          body,
        },
        '/sub/path?a=1&b=%20',
      );
      const text = await received('tunnelled', { body: 'a=1&b=é' }, '?fail=1');
      await has(2);
      await until(
        async () => running.lines().length,
        (count) => count >= 2,
        WITHIN_MS,
      );
      await running.stop('SIGINT');

      expect(arrived.map(({ method, url }) => `${method} ${url}`)).toEqual([
        'PUT /hook/sub/path?mine=1&a=1&b=%20',
        'POST /hook?mine=1&fail=1',
      ]);
      expect(arrived[0]?.body.equals(body)).toBe(true);
      expect(arrived[1]?.body.toString()).toBe('a=1&b=é');
      const headers = arrived[0]?.rawHeaders ?? [];
      expect(headers[headers.indexOf('x-signature') + 1]).toBe('v1=abc');
      expect(headers[headers.indexOf('stripe-signature') + 1]).toBe('t=1');
      expect(
        running.lines().map(({ event_id, status, is_again, is_late }) => ({ event_id, status, is_again, is_late })),
      ).toEqual([
        { event_id: id, status: 201, is_again: false, is_late: false },
        { event_id: text, status: 500, is_again: false, is_late: false },
      ]);
      expect(running.child.exitCode).toBe(0);
    });

    it('forwards each request once over a restart, and --resume continues after the last run', async () => {
      await json('endpoints', 'create', 'resumed');
      const running = await tunnel(['--endpoint', 'resumed']);
      const ids = [await received('resumed')];
      await has(1);
      await restart('SIGKILL');
      ids.push(await received('resumed'), await received('resumed'));
      await has(3);
      await until(
        async () => running.lines().length,
        (count) => count >= 3,
        WITHIN_MS,
      );
      await running.stop();
      ids.push(await received('resumed'), await received('resumed'));
      const resumed = await tunnel(['--endpoint', 'resumed', '--resume']);
      await has(5);
      ids.push(await received('resumed'));
      await has(6);
      await until(
        async () => resumed.lines().length,
        (count) => count >= 3,
        WITHIN_MS,
      );
      await resumed.stop();

      expect([...running.lines(), ...resumed.lines()].map(({ event_id }) => event_id)).toEqual(ids);
      expect([...running.lines(), ...resumed.lines()].some(({ is_again }) => is_again)).toBe(false);
      expect(arrived).toHaveLength(6);
    });

    it.each([
      ['write', 'Bearer of-a-provider', 'glpat-of-a-provider'],
      ['read', undefined, undefined],
    ] as const)(
      'a key of scope %s: authentication headers are forwarded as %s',
      async (scope, authorization, token) => {
        const slug = `for-${scope}`;
        const { id } = await json('endpoints', 'create', slug, '--preset', 'gitlab');
        expectStatus(await server.api('PUT', `/v1/endpoints/${id}/secret`, { secret: 'glpat-of-a-provider' }), 204);
        const { key } = await createKey(server, { scope });
        // These arguments are written as users type them.
        const running = start({ ...env, POSTHORN_API_KEY: key }, [
          'listen',
          '--forward-to',
          `${new URL(to).port}/hook`,
          '--json',
          '--endpoint',
          slug,
        ]);
        await running.said('Forwarding requests');
        await received(slug, {
          headers: {
            'content-type': 'application/json',
            authorization: 'Bearer of-a-provider',
            'x-gitlab-token': 'glpat-of-a-provider',
            'x-plain': 'hello',
          },
          body: '{"object_kind":"push"}',
        });
        await has(1);
        await running.stop();

        const headers = arrived[0]?.rawHeaders ?? [];
        const value = (name: string): string | undefined =>
          headers.includes(name) ? headers[headers.indexOf(name) + 1] : undefined;
        expect([value('authorization'), value('x-gitlab-token'), value('x-plain'), arrived[0]?.url]).toEqual([
          authorization,
          token,
          'hello',
          '/hook',
        ]);
        expect(running.err.includes('authentication headers are not forwarded')).toBe(scope === 'read');
      },
    );

    it('forwards several requests at once, in order of arrival, and one at a time if requested', async () => {
      await json('endpoints', 'create', 'slow');
      const ids: string[] = [];
      const running = start(env, [
        'listen',
        '--forward-to',
        `${to}/hold`,
        '--json',
        '--endpoint',
        'slow',
        '--concurrency',
        '3',
      ]);
      await running.said('Forwarding requests');
      for (let n = 0; n < 4; n += 1) ids.push(await received('slow', {}, `?n=${n}`));
      await has(3);
      expect(arrived.map(({ url }) => url)).toEqual(['/hold?n=0', '/hold?n=1', '/hold?n=2']);
      expect(running.lines()).toEqual([]);
      held[1]?.();
      await has(4);
      for (const release of held) release();
      await until(
        async () => running.lines().length,
        (count) => count === 4,
        WITHIN_MS,
      );
      await running.stop();

      expect(running.lines()[0]).toMatchObject({ event_id: ids[1], status: 201 });
    });

    it.each([
      '--forward-to http:3000',
      '--forward-to ftp://localhost/x',
      '--forward-to 99999',
      '--forward-to 3000 --concurrency 0',
      '--forward-to 3000 --concurrency 101',
      '--forward-to 3000 --concurrency many',
    ])('%s exits with 2 and one line', async (line) => {
      const ran = await posthorn('listen', ...line.split(' '));

      expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^[^\n]+\n$/) });
    });

    it('reports requests that the local program did not accept, and continues', async () => {
      await json('endpoints', 'create', 'refused');
      const running = start(env, [
        'listen',
        '--forward-to',
        `http://127.0.0.1:${await freePort()}`,
        '--json',
        '--endpoint',
        'refused',
      ]);
      await running.said('Forwarding requests');
      await received('refused');
      await received('refused');
      await until(
        async () => running.lines().length,
        (count) => count >= 2,
        WITHIN_MS,
      );
      await running.stop();

      expect(
        running.lines().map(({ status, error }) => ({ status, isRefused: /ECONNREFUSED/.test(error as string) })),
      ).toEqual([
        { status: null, isRefused: true },
        { status: null, isRefused: true },
      ]);
    });
  });
});
