import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SERVER_COMMANDS, type ServerCommand } from '../../src/bootstrap/server-commands.js';
import { command, type Ran } from '../support/command.js';
import { startServer } from '../support/server.js';

const NAMES = Object.keys(SERVER_COMMANDS) as ServerCommand[];

describe('the commands of the server', () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'posthorn-commands-'));
  });

  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const posthorn = (...args: string[]): Promise<Ran> => command({ DATA_DIR: dataDir, HOME: dataDir }, args);

  it.each(NAMES)('%s shows its help with examples and changes nothing', async (name) => {
    const asked = await Promise.all([posthorn(name, '--help'), posthorn(name, '-h'), posthorn('help', name)]);

    for (const { code, out, err } of asked) {
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain(`posthorn ${name}: ${SERVER_COMMANDS[name].what}`);
      for (const example of SERVER_COMMANDS[name].examples) expect(out).toContain(`\n  ${example}\n`);
    }
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it.each(NAMES)('%s shows its help with an invalid configuration, too', async (name) => {
    const { code, out } = await command({ DATA_DIR: dataDir, HOME: dataDir, PORT: 'x' }, [name, '--help']);

    expect({ code, shown: out.startsWith(`posthorn ${name}: `) }).toEqual({ code: 0, shown: true });
  });

  it.each<ServerCommand>(['start', 'migrate', 'rotate-master-key', 'confirm-clock'])(
    '%s refuses an argument in one line and changes nothing',
    async (name) => {
      const { code, out, err } = await posthorn(name, '--dry-run');

      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(new RegExp(`^[^\\n]*\`posthorn ${name}\` takes no options\\.\\n$`));
      expect(readdirSync(dataDir)).toEqual([]);
    },
  );

  it('a request for help does not rotate the master key of an installation', async () => {
    const server = await startServer({ DATABASE_URL: '', MASTER_KEY: '', BOOTSTRAP_API_KEY: '', DATA_DIR: dataDir });
    await server.stop();
    const hashOfKey = (): string =>
      createHash('sha256')
        .update(readFileSync(path.join(dataDir, 'master.key')))
        .digest('hex');
    const before = hashOfKey();

    await posthorn('rotate-master-key', '--help');
    await posthorn('rotate-master-key', '--dry-run');
    const unchanged = hashOfKey();
    const rotated = await posthorn('rotate-master-key');

    expect(unchanged).toBe(before);
    expect(rotated.code).toBe(0);
    expect(hashOfKey()).not.toBe(before);
  });

  it('orgs names its commands', async () => {
    const { code, err } = await posthorn('orgs');

    expect(code).toBe(1);
    expect(err).toMatch(/`orgs list`, `orgs remove org_…`, and `orgs create` with --slug, --name and --admin-email/);
  });
});
