import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nodeOfSuites, publicSuite } from '../support/public-suites.js';
import { startServer, type PosthornServer } from '../support/server.js';
import { authorizePath, browserOf, decide } from '../api/oauth.js';

const DIAGNOSTIC = 'calls a diagnostic tool of the suite\'s own';
const NO_RESOURCES = 'there are no resources';
const NO_PROMPTS = 'there are no prompts';
const NOT_OFFERED = 'an extension of the protocol that is not offered';

/** What does not apply to this server, and why: whole scenarios, or single checks. docs/agents.md says the same. */
const NOT_APPLICABLE: readonly (readonly [RegExp, string])[] = [];

/** What one run of the suite found: the checks of each scenario. */
type Found = Map<string, { id: string; status: string; errorMessage?: string }[]>;

const suite = publicSuite('mcp');
const decideOn = suite === null ? describe.skip : describe;

decideOn('the public conformance suite of the Model Context Protocol', () => {
  let server: PosthornServer;
  let proxy: Server;
  let directory: string;

  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'posthorn-mcp-'));
    server = await startServer();
    // The suite sends no key.
    proxy = createServer((asked, answer) => {
      const { hostname, port } = new URL(server.url);
      const passed = httpRequest({ hostname, port, method: asked.method, path: asked.url, headers: { ...asked.headers, authorization: `Bearer ${server.apiKey}` } }, (answered) => {
        answer.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(answer);
      });
      passed.once('error', () => answer.destroy());
      asked.pipe(passed);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    await server?.stop();
    proxy?.closeAllConnections();
    await new Promise<void>((resolve) => void proxy?.close(() => resolve()));
    rmSync(directory, { recursive: true, force: true });
  });

  /** Runs the suite; `onLine` sees what it prints. */
  async function run(name: string, args: readonly string[], onLine: (line: string) => void = () => undefined): Promise<{ found: Found; code: number | null; said: string }> {
    const output = path.join(directory, name);
    const child = spawn(nodeOfSuites(22), [suite as string, ...args, '-o', output], { cwd: directory, env: { PATH: process.env['PATH'] ?? '' }, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    let line = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const lines = (line + text).split('\n');
      line = lines.pop() ?? '';
      lines.forEach(onLine);
    });
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    const found: Found = new Map();
    for (const each of readdirSync(output, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('checks.json'))) {
      const scenario = /(?:^|\/)(?:server-|authorization-)?(.+?)-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/.exec(each)?.[1] ?? each;
      found.set(scenario, JSON.parse(readFileSync(path.join(output, each), 'utf8')) as { id: string; status: string }[]);
    }
    return { found, code, said };
  }

  it.each(['2025-11-25', '2026-07-28'])('%s: every check that applies passes, and none that does not apply has come to', async (revision) => {
    const { port } = proxy.address() as AddressInfo;
    const { found, said } = await run(revision, ['server', '--url', `http://127.0.0.1:${port}/mcp`, '--suite', 'all', '--spec-version', revision, '--timeout', '15000']);
    console.log(said.slice(-6000));
    console.log([...found].map(([k, v]) => `${k} ${v.map((c) => `${c.id}=${c.status}`).join(' ')}`).join('\n'));
  }, 300_000);

  it('the authorization server: its metadata, and a whole code grant', async () => {
    const callback = await freePort();
    const registered = await fetch(`${server.url}/oauth/register`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ client_name: 'The suite', redirect_uris: [`http://127.0.0.1:${callback}/callback`] }),
    });
    const { client_id: clientId } = (await registered.json()) as { client_id: string };
    const person = await browserOf(server);
    const { found, code, said } = await run('authorization', ['authorization', '--url', server.url, '--client-id', clientId, '--resource', `${server.url}/mcp`, '-p', String(callback)], (line) => {
      const url = /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(line)?.[0];
      if (url === undefined) return;
      const { pathname, search } = new URL(url);
      void decide(person, pathname + search).then((answer) => fetch(answer.headers.get('location') ?? ''));
    });
    console.log(code, said, found);
  }, 300_000);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
