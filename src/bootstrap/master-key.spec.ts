import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConfigError, loadConfig } from '#kernel/config/config.js';
import { provideMasterKey } from './master-key.js';

describe('provideMasterKey', () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = path.join(mkdtempSync(path.join(tmpdir(), 'posthorn-key-')), 'made', 'here');
  });

  afterEach(() => rmSync(path.resolve(dataDir, '../..'), { recursive: true }));

  it('creates a key once, readable by its owner only, and returns the same key afterwards', () => {
    const config = loadConfig({ DATA_DIR: dataDir });

    const first = provideMasterKey(config);
    const second = provideMasterKey(config);

    expect(first).toHaveLength(32);
    expect(second).toEqual(first);
    expect(readdirSync(dataDir)).toEqual(['master.key']);
    expect(statSync(path.join(dataDir, 'master.key')).mode & 0o777).toBe(0o600);
  });

  it('creates a different key in another directory', () => {
    const other = loadConfig({ DATA_DIR: path.join(dataDir, 'other') });

    expect(provideMasterKey(other)).not.toEqual(provideMasterKey(loadConfig({ DATA_DIR: dataDir })));
  });

  it('prefers MASTER_KEY and writes nothing', () => {
    const key = Buffer.alloc(32, 7);

    expect(provideMasterKey(loadConfig({ DATA_DIR: dataDir, MASTER_KEY: key.toString('hex') }))).toEqual(key);
    expect(() => readdirSync(dataDir)).toThrow('ENOENT');
  });

  it('does not create a new key for a database whose key is missing', () => {
    mkdirSync(path.join(dataDir, 'postgres'), { recursive: true });

    const provide = (): unknown => provideMasterKey(loadConfig({ DATA_DIR: dataDir }));

    expect(provide).toThrow(ConfigError);
    expect(provide).toThrow(
      'master.key is missing, but the database that it protects exists: restore the file, or set MASTER_KEY.',
    );
  });

  it('rejects a file that contains no key, without showing its content', () => {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(path.join(dataDir, 'master.key'), 'hunter2\n');

    const provide = (): unknown => provideMasterKey(loadConfig({ DATA_DIR: dataDir }));

    expect(provide).toThrow(/master\.key must hold 32 bytes in base64 or hex: restore it, or set MASTER_KEY\.$/);
    expect(provide).not.toThrow('hunter2');
  });
});
