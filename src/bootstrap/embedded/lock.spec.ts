import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EmbeddedPostgresError } from './failure.js';
import { lockDirectory } from './lock.js';
import { processIdentity } from './processes.js';

describe('lockDirectory', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'posthorn-lock-'));
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  it('rejects a directory that a living process holds, and names the process', () => {
    const holder = { pid: process.ppid, identity: processIdentity(process.ppid) };
    writeFileSync(path.join(directory, 'posthorn.lock'), JSON.stringify(holder));

    const lock = (): unknown => lockDirectory(directory);

    expect(lock).toThrow(EmbeddedPostgresError);
    expect(lock).toThrow(
      `${directory} is in use by another Posthorn (process ${process.ppid}): stop that one, or set another DATA_DIR.`,
    );
  });

  it('rejects a second lock by the same process, and grants it after the first is released', () => {
    const unlock = lockDirectory(directory);

    expect(() => lockDirectory(directory)).toThrow(`process ${process.pid}`);

    unlock();
    expect(readdirSync(directory)).toEqual([]);
    lockDirectory(directory)();
  });

  it.each([
    ['a process that is gone', JSON.stringify({ pid: 2 ** 22 + 1, identity: 'gone' })],
    ['another process that reuses the id', JSON.stringify({ pid: process.ppid, identity: 'an earlier one' })],
    ['no process, because a power failure left the file empty', ''],
    ['no process, because the file is not a lock of Posthorn', '[]'],
  ])('takes over the lock of %s', (_whose, content) => {
    const file = path.join(directory, 'posthorn.lock');
    writeFileSync(file, content);

    lockDirectory(directory);

    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid });
    expect(readdirSync(directory)).toEqual(['posthorn.lock']);
  });

  it('does not remove a lock that another process has taken over', () => {
    const file = path.join(directory, 'posthorn.lock');
    const unlock = lockDirectory(directory);
    writeFileSync(file, 'of somebody else');

    unlock();

    expect(readFileSync(file, 'utf8')).toBe('of somebody else');
  });
});
