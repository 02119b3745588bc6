import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { browserOf, decide } from '../api/oauth.js';
import { freePort } from '../durability/processes.js';
import { nodeOfSuites, publicSuite } from '../support/public-suites.js';
import { type PosthornServer, startServer } from '../support/server.js';

const DIAGNOSTIC = "it calls a diagnostic tool of the suite's own";
const NO_RESOURCES = 'there are no resources';
const NO_PROMPTS = 'there are no prompts';

/**
 * Checks that do not apply to Posthorn, as `scenario:check`, each with the reason. Each must fail. A check that passes
 * does not belong in this list.
 */
const NOT_APPLICABLE: readonly (readonly [RegExp, string])[] = [
  [/^tools-call-[a-z-]+:/, DIAGNOSTIC],
  [/^json-schema-2020-12:/, DIAGNOSTIC],
  [/^elicitation-[a-z0-9-]+:/, DIAGNOSTIC],
  [/^input-required-result-(?!unsupported-methods|validate-input)[a-z-]+:/, DIAGNOSTIC],
  [
    /^server-stateless:sep-2575-(?:server-rejects-undeclared-capability|missing-capability-http-400|http-server-no-independent-requests-on-stream|server-no-log-without-loglevel)$/,
    DIAGNOSTIC,
  ],
  [/^http-custom-header-server-validation:/, 'no argument of a tool is a header'],
  [/^prompts-[a-z-]+:/, NO_PROMPTS],
  [/^completion-complete:/, NO_PROMPTS],
  [/^caching:sep-2549-prompts-list-caching-hints$/, NO_PROMPTS],
  [/^resources-[a-z-]+:/, NO_RESOURCES],
  [/^caching:sep-2549-resources-(?:list|templates-list)-caching-hints$/, NO_RESOURCES],
  [/^logging-set-level:/, 'there are no logs'],
];

/** Checks that must have run, because a suite that skips all checks passes, too. */
const APPLICABLE: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'dns-rebinding-protection',
    'http-header-validation',
    'caching',
    'server-sse-multiple-streams',
    'sep-2164-resource-not-found',
    'input-required-result-unsupported-methods',
    'input-required-result-validate-input',
  ],
};

/** Results of one run of the conformance suite: the checks of each scenario. */
type Found = Map<string, { id: string; status: string }[]>;

/** Time limit of a suite that takes 11 s if no other suite runs. */
const LONG_MS = 300_000;

const suite = publicSuite('mcp');
const decideOn = suite === null ? describe.skip : describe;

decideOn('the public conformance suite of the Model Context Protocol', () => {
  let server: PosthornServer;
  let proxy: Server;
  let directory: string;

  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'posthorn-mcp-'));
    server = await startServer();
    // Adds the API key, which the suite does not send.
    proxy = createServer((asked, answer) => {
      const { hostname, port } = new URL(server.url);
      const passed = httpRequest(
        {
          hostname,
          port,
          method: asked.method,
          path: asked.url,
          headers: { ...asked.headers, authorization: `Bearer ${server.apiKey}` },
        },
        (answered) => {
          answer.writeHead(answered.statusCode ?? 502, answered.headers);
          answered.pipe(answer);
        },
      );
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

  /** Runs the suite and calls `onLine` with each line of its output. Returns the results and the exit code. */
  async function run(
    name: string,
    args: readonly string[],
    onLine: (line: string) => void = () => undefined,
  ): Promise<{ found: Found; code: number | null }> {
    const output = path.join(directory, name);
    const child = spawn(nodeOfSuites(22) as string, [suite as string, ...args, '-o', output], {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let line = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        const lines = (line + text).split('\n');
        line = lines.pop() ?? '';
        lines.forEach(onLine);
      });
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    const found: Found = new Map();
    for (const each of readdirSync(output, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('checks.json'),
    )) {
      const scenario =
        /(?:^|\/)(?:server-|authorization-server-)(.+?)-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/.exec(each)?.[1] ?? each;
      found.set(
        scenario,
        JSON.parse(readFileSync(path.join(output, each), 'utf8')) as { id: string; status: string }[],
      );
    }
    return { found, code };
  }

  it.each(Object.keys(APPLICABLE))(
    '%s: every applicable check passes',
    async (revision) => {
      const { port } = proxy.address() as AddressInfo;

      const { found } = await run(revision, [
        'server',
        '--url',
        `http://127.0.0.1:${port}/mcp`,
        '--suite',
        'all',
        '--spec-version',
        revision,
      ]);

      const checks = [...found].flatMap(([scenario, all]) =>
        all.map(({ id, status }) => ({ name: `${scenario}:${id}`, status })),
      );
      const excused = checks.filter(
        ({ name }) => !name.endsWith(':wire-schema-valid') && NOT_APPLICABLE.some(([pattern]) => pattern.test(name)),
      );
      const failed = checks.filter(({ status }) => status === 'FAILURE').map(({ name }) => name);
      expect(failed.filter((name) => !excused.some((each) => each.name === name))).toEqual([]);
      expect(excused.filter(({ status }) => status === 'SUCCESS')).toEqual([]);
      for (const scenario of APPLICABLE[revision] ?? []) {
        expect(checks).toContainEqual({
          name: expect.stringMatching(new RegExp(`^${scenario}:(?!wire-)`)),
          status: 'SUCCESS',
        });
      }
      expect(
        checks.filter(({ name, status }) => name.endsWith(':wire-schema-valid') && status === 'SUCCESS').length,
      ).toBeGreaterThan(25);
    },
    LONG_MS,
  );

  it(
    'the authorization server: its metadata, and a complete code grant',
    async () => {
      const callback = await freePort();
      const registered = await fetch(`${server.url}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'The suite', redirect_uris: [`http://127.0.0.1:${callback}/callback`] }),
      });
      const { client_id: clientId } = (await registered.json()) as { client_id: string };
      const person = await browserOf(server);

      const { found, code } = await run(
        'authorization',
        [
          'authorization',
          '--url',
          server.url,
          '--client-id',
          clientId,
          '--resource',
          `${server.url}/mcp`,
          '-p',
          String(callback),
        ],
        (line) => {
          const url = /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(line)?.[0];
          if (url === undefined) return;
          const { pathname, search } = new URL(url);
          void decide(person, pathname + search).then((answer) => fetch(answer.headers.get('location') ?? ''));
        },
      );

      expect([...found].flatMap(([, all]) => all.map(({ id, status }) => `${id}: ${status}`)).sort()).toEqual([
        'authorization-code-grant: SUCCESS',
        'authorization-server-metadata-cimd: SUCCESS',
        'authorization-server-metadata: SUCCESS',
      ]);
      expect(code).toBe(0);
    },
    LONG_MS,
  );
});
