import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  hasPythonModules,
  hasTool,
  isAtLeast,
  isRedisInstalled,
  isSwaksUsable,
  mayListenOn,
} from '../support/optional-tools.js';

describe('a tool that tests use if the machine has it', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-tools-'));
  const { PATH, CI } = process.env;

  /** Creates shell scripts with these names, and sets the PATH to a folder that contains only these scripts. */
  function onlyPrograms(scripts: Record<string, string>): void {
    const bin = mkdtempSync(path.join(folder, 'bin-'));
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(path.join(bin, name), 0o755);
    }
    process.env['PATH'] = bin;
  }

  beforeEach(() => delete process.env['CI']);
  afterEach(() => {
    process.env['PATH'] = PATH;
    if (CI !== undefined) process.env['CI'] = CI;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each<[string, Record<string, string>, boolean]>([
    ['with its TLS module', { swaks: 'echo "=== TLS supported"' }, true],
    [
      'without libnet-ssleay-perl, which failed a test',
      { swaks: 'echo "*** TLS not available: requires Net::SSLeay"' },
      false,
    ],
    ['that exists and fails', { swaks: 'echo "=== TLS supported"; exit 1' }, false],
    ['that is not installed', {}, false],
  ])('swaks %s', (_what, scripts, expected) => {
    onlyPrograms(scripts);
    expect(isSwaksUsable()).toBe(expected);
  });

  it.each<[string, Record<string, string>, boolean]>([
    ['7.0', { 'redis-server': 'echo "Redis server v=7.0.15 sha=00000000:0"' }, true],
    ['5.0, which BullMQ refuses', { 'redis-server': 'echo "Redis server v=5.0.14 sha=00000000:0"' }, false],
    ['that exists and fails', { 'redis-server': 'exit 127' }, false],
    ['that is not installed', {}, false],
  ])('redis-server %s', (_what, scripts, expected) => {
    onlyPrograms(scripts);
    expect(isRedisInstalled()).toBe(expected);
  });

  it('Python counts only with all of the modules, and a user only with permission for the port', () => {
    onlyPrograms({});
    expect([
      hasPythonModules(undefined, 'x'),
      hasPythonModules('', 'x'),
      hasPythonModules('/nothing/python', 'x'),
    ]).toEqual([false, false, false]);
    expect([mayListenOn(0, '127.0.0.1'), mayListenOn(0, '192.0.2.1')]).toEqual([true, false]);
  });

  it('in CI a missing tool is an error', () => {
    process.env['CI'] = 'true';
    const tool = { skipped: 'nothing', tool: 'such tool', install: 'apt-get install it' };

    expect(() => hasTool(tool, () => false)).toThrow('There is no such tool, which CI installs: apt-get install it.');
    expect(hasTool(tool, () => true)).toBe(true);
  });

  it.each<[string | null, boolean]>([
    ['nats-server: v2.10.1', true],
    ['nats-server: v2.1.9', false],
    ['v10.0', true],
    ['none', false],
    [null, false],
  ])('%s is 2.2 or newer: %s', (text, expected) => {
    expect(isAtLeast(text, [2, 2])).toBe(expected);
  });
});
