import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { freePort } from '../durability/processes.js';
import { command, start } from '../support/command.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { connectAgent } from './agent.js';
import { createKey } from './answers.js';
import { until } from './polling.js';
import { destinationAt, startTargets, type Targets, WITHIN_MS } from './scene.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

describe('posthorn mcp', () => {
  let server: PosthornServer;
  let current: PosthornServer;
  let targets: Targets;
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ PORT: String(await freePort()), RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' });
    current = server;
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-mcp-'));
    env = { HOME: folder, XDG_CONFIG_HOME: folder };
  });

  afterAll(async () => {
    if (current !== server) await current?.stop();
    await server?.stop();
    await targets?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function connected(
    args: string[],
    own: Record<string, string> = {},
    revision: 'modern' | 'legacy' = 'modern',
  ): Promise<Client> {
    const client = new Client(
      { name: 'test agent', version: '1' },
      revision === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
    );
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [path.join('dist', 'src', 'posthorn.js'), 'mcp', ...args],
        cwd: ROOT,
        env: { PATH: process.env['PATH'] ?? '', ...env, ...own },
      }),
    );
    return client;
  }
  const ofEnvironment = (): Record<string, string> => ({ POSTHORN_URL: server.url, POSTHORN_API_KEY: server.apiKey });

  it.each(['modern', 'legacy'] as const)(
    '%s: with an admin key, lists the tools that a read key gets at /mcp, and rejects calls of others',
    async (revision) => {
      const reading = await connectAgent(server, (await createKey(server, { scope: 'read' })).key, revision);
      const client = await connected([], ofEnvironment(), revision);
      const target = targets.open();
      const destination = await destinationAt(server, target.url);

      const offered = await client.listTools();
      const found = await client.callTool({ name: 'get_destination', arguments: { destination_id: destination } });
      const refused = await client
        .callTool({ name: 'test_destination', arguments: { destination_id: destination } })
        .catch((error: Error) => error);

      expect(offered.tools).toEqual((await reading.client.listTools()).tools);
      expect(found.structuredContent).toMatchObject({ id: destination });
      expect(client.getInstructions()).toBe(reading.client.getInstructions());
      expect(refused).toMatchObject({
        message: expect.stringContaining(
          'There is no tool called test_destination within --scope read. Available tools: get_application, ',
        ),
      });
      expect(target.posts()).toEqual([]);
      await Promise.all([client.close(), reading.close()]);
    },
  );

  it('limits the tools even if a call comes before the list', async () => {
    const running = start(
      { ...env, ...ofEnvironment() },
      ['mcp'],
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'redrive_dead_letters', arguments: {} } })}\n`,
    );
    await until(
      async () => running.child.exitCode,
      (code) => code !== null,
      WITHIN_MS,
    );

    expect(running.lines()).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32602, message: expect.stringContaining('within --scope read') } },
    ]);
    expect(running.child.exitCode).toBe(0);
  });

  it('--scope write with the key of a login: offers every tool, and during a restart of the service no call fails or runs twice', async () => {
    expect(await command(env, ['login', '--with-key', '--url', server.url], server.apiKey)).toMatchObject({ code: 0 });
    const writing = await connectAgent(server, server.apiKey);
    const client = await connected(['--scope', 'write']);
    expect((await client.listTools()).tools).toEqual((await writing.client.listTools()).tools);
    await writing.close();
    const target = targets.open();
    const destination = await destinationAt(server, target.url);
    const type = `mcp.${randomUUID()}`;

    await current.kill('SIGKILL');
    const calls = [
      client.callTool({ name: 'list_destinations', arguments: {} }),
      client.callTool({ name: 'send_webhook', arguments: { destination, event_type: type, payload: {} } }),
    ];
    current = await startServer(server.env);
    const [listed, sent] = await Promise.all(calls);
    await target.arrived(1);

    expect([listed?.isError ?? false, sent?.isError ?? false]).toEqual([false, false]);
    expect((await server.api('GET', `/v1/events?event_type=${type}`)).json.data).toHaveLength(1);
    await client.close();
  });

  it('forwards numbers unchanged: an id beyond 2^53 is delivered, and a response has the id of its request', async () => {
    const target = targets.open();
    const destination = await destinationAt(server, target.url);
    const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_webhook","arguments":{"destination":"${destination}","event_type":"mcp.exact","payload":{"id":12345678901234567890}}}}\n`;

    const ran = start({ ...env, ...ofEnvironment() }, ['mcp', '--scope', 'write'], ask);
    await until(
      async () => ran.child.exitCode,
      (code) => code !== null,
      WITHIN_MS,
    );
    const [post] = await target.arrived(1);

    expect(ran.lines()).toEqual([
      expect.objectContaining({ id: 1, result: expect.objectContaining({ structuredContent: expect.anything() }) }),
    ]);
    expect(post?.rawBody.toString()).toBe('{"id":12345678901234567890}');
  });

  it('writes only protocol messages, for any input, and ends with its input', async () => {
    const asked = [
      'no json',
      '[]',
      '{"jsonrpc":"2.0","id":7}',
      '{"jsonrpc":"2.0"}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      `"${'x'.repeat(1_100_000)}"`,
      JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'nothing/there' }),
      JSON.stringify({
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'get_event', arguments: { event_id: 'evt_none' } },
      }),
    ];

    const ran = start({ ...env, ...ofEnvironment() }, ['mcp'], `${asked.join('\n')}\n`);
    await until(
      async () => ran.child.exitCode,
      (code) => code !== null,
      WITHIN_MS,
    );

    expect(ran.lines().every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
    expect(ran.lines().map(({ id, error }) => [id, error?.code ?? null])).toEqual(
      expect.arrayContaining([
        [null, -32700],
        [null, -32600],
        ['a', -32601],
        [2, null],
      ]),
    );
    expect(ran.lines()).toHaveLength(6);
    expect({ code: ran.child.exitCode, err: ran.err }).toEqual({ code: 0, err: '' });
  });

  it('an invalid key or an unavailable service is an error of the call; without a key it exits with 3, with an unknown scope with 2', async () => {
    const ask = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })}\n`;
    const [bad, none, misspelt] = await Promise.all([
      command({ ...env, ...ofEnvironment(), POSTHORN_API_KEY: 'ek_live_x' }, ['mcp'], ask),
      command({ HOME: folder, XDG_CONFIG_HOME: path.join(folder, 'nobody') }, ['mcp'], ask),
      command({ ...env, ...ofEnvironment() }, ['mcp', '--scope', 'admin'], ask),
    ]);

    expect(JSON.parse(bad.out)).toMatchObject({
      id: 1,
      error: { code: -32001, message: expect.stringContaining('posthorn login') },
    });
    expect(bad.out + bad.err).not.toContain('ek_live_x');
    expect([none.code, none.out, misspelt.code, misspelt.out]).toEqual([3, '', 2, '']);
    expect(none.err).toContain('posthorn login');
  });

  it('a cancelled call is aborted and gets no response', async () => {
    const running = start(
      { ...env, ...ofEnvironment() },
      ['mcp'],
      [
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'wait_for_event', arguments: { event_type: 'never', timeout_seconds: 25 } },
        },
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      ]
        .map((message) => `${JSON.stringify(message)}\n`)
        .join(''),
    );
    await until(
      async () => running.child.exitCode,
      (code) => code !== null,
      WITHIN_MS,
    );

    expect({ code: running.child.exitCode, out: running.out }).toEqual({ code: 0, out: '' });
  });
});
