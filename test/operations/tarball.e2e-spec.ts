import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectAgent } from '../api/agent.js';
import { deliver, letter } from '../api/mailing.js';
import { ROOT, textOf } from '../architecture/source-tree.js';
import { freePort } from '../durability/processes.js';
import { copyToPack, shell, shellEnvironment, whileRunning } from '../support/packed-program.js';
import { nodesToTry } from '../support/public-suites.js';
import { startReceiver } from '../support/receiver.js';

// The semver package of npm, with which npm checks `engines`.
const { satisfies } = createRequire(import.meta.url)('semver') as {
  satisfies: (version: string, range: string) => boolean;
};

interface Lock {
  packages: Record<
    string,
    { version: string; integrity?: string; dev?: boolean; devOptional?: boolean; optional?: boolean }
  >;
}
const lockIn = (file: string): [string, Lock['packages'][string]][] =>
  Object.entries((JSON.parse(readFileSync(file, 'utf8')) as Lock).packages).filter(([place]) => place !== '');

/**
 * The commands in the README section for installing without a clone, and the last of them, which starts the service.
 */
const [, commands = ''] =
  /^## Install without a clone\n[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(textOf('README.md')) ?? [];
const start = commands.trimEnd().split('\n').at(-1) ?? '';
const installing = commands.trimEnd().slice(0, -start.length);

/** Uses only the file that `npm pack` makes, in an empty folder, as the README describes. */
describe('the tarball', () => {
  let folder: string;
  let tarball: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-tarball-'));
    // If root runs the tests, PostgreSQL runs as another user, which needs access to the folder.
    chmodSync(folder, 0o755);
    const clone = path.join(folder, 'clone');
    copyToPack(clone);
    shell('npm pack', clone);
    tarball = path.join(clone, 'posthorn-0.1.0.tgz');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('npm pack leaves no npm-shrinkwrap.json behind, which npm would prefer to package-lock.json', () => {
    expect(existsSync(path.join(path.dirname(tarball), 'npm-shrinkwrap.json'))).toBe(false);
  });

  describe.each(nodesToTry())('on Node.js $version', ({ version, directory }) => {
    let place: string;
    let output: string;
    const env = (): NodeJS.ProcessEnv => ({
      ...shellEnvironment(),
      PATH: `${directory}:${process.env['PATH'] ?? ''}`,
      npm_config_loglevel: 'warn',
      DATA_DIR: path.join(place, 'data'),
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      EGRESS_ALLOW_HTTP: 'true',
    });

    beforeAll(() => {
      place = path.join(folder, version);
      mkdirSync(place);
      output = shell(`cp ${tarball} . && ${installing}`, place, env());
    }, 600_000);

    it('installs the versions of package-lock.json, and no development packages', () => {
      const locked = lockIn(path.join(ROOT, 'package-lock.json')).filter(([, { dev }]) => dev !== true);
      const installed = lockIn(path.join(place, 'package/node_modules/.package-lock.json'));

      const contents = new Map(installed.map(([name, { integrity }]) => [name, integrity]));
      expect(contents.size).toBeGreaterThan(200);
      expect(locked.filter(([name, { integrity }]) => contents.has(name) && contents.get(name) !== integrity)).toEqual(
        [],
      );
      // Packages for other platforms are optional.
      const required = locked.filter(([, { optional, devOptional }]) => optional !== true && devOptional !== true);
      expect(required.map(([name]) => name).filter((name) => !contents.has(name))).toEqual([]);
      const known = new Set(locked.map(([name]) => name));
      expect([...contents.keys()].filter((name) => !known.has(name))).toEqual([]);
    });

    it('npm warns about no package, except mailauth with a Node.js below 22.19', () => {
      const warned = [...output.matchAll(/EBADENGINE\s+package: '([^']+)'/g)].map(([, name]) => name);

      expect(output).toMatch(/added \d+ packages/);
      expect(warned).toEqual(satisfies(version, '>=22.19.0') ? [] : ['mailauth@7.1.0']);
      expect(output.replace(/^npm warn EBADENGINE.*$/gm, '')).not.toContain('warn');
    });

    it('starts with its own PostgreSQL, delivers a webhook, receives mail, and answers an agent', async () => {
      const [receiver, smtpPort] = [await startReceiver(), await freePort()];

      try {
        const log = await whileRunning(
          start,
          path.join(place, 'package'),
          { ...env(), SMTP_PORT: String(smtpPort) },
          async (url, key) => {
            const post = async (route: string, body: object): Promise<Record<string, string>> => {
              const answer = await fetch(url + route, {
                method: 'POST',
                headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
                body: JSON.stringify(body),
              });
              expect([route, answer.ok, answer.status]).toEqual([route, true, answer.status]);
              return (await answer.json()) as Record<string, string>;
            };
            const hook = { destination: `${receiver.url}/hook`, event_type: 'invoice.paid', payload: { amount: 4200 } };
            await post('/v1/send', hook);
            const { id } = await post('/v1/destinations', { name: 'mail', type: 'https', url: `${receiver.url}/mail` });
            const { address = '' } = await post('/v1/aliases', {
              kind: 'platform',
              localPart: 'invoices',
              destinationIds: [id],
            });
            expect(await deliver(smtpPort, address, letter('invoice'))).toMatch(/^250 2\.6\.0 Accepted as evt_/);
            const agent = await connectAgent({ url }, key);
            expect(await agent.call('get_attention')).toMatchObject({ isError: false });
            await agent.close();
            const docs = await fetch(`${url}/docs/swagger-ui-bundle.js`);
            expect([docs.status, (await docs.text()).length > 1_000_000]).toEqual([200, true]);
            const bodies = async (): Promise<Record<string, unknown>[]> =>
              (await receiver.waitFor(3, 60_000))
                .filter(({ rawBody }) => rawBody.length > 0)
                .map(({ path: route, rawBody }) => ({ route, body: rawBody.toString() }));
            expect(await bodies()).toEqual(
              expect.arrayContaining([
                { route: '/hook', body: expect.stringContaining('4200') },
                { route: '/mail', body: expect.stringContaining('"subject":"invoice"') },
              ]),
            );
          },
        );
        expect(log).toMatch(/^Live admin key: ek_live_/m);
      } finally {
        await receiver.close();
      }
    }, 300_000);
  });
});
