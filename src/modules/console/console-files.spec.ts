import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConsoleFiles } from './console-files.js';

describe('ConsoleFiles', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-console-'));

  beforeAll(() => {
    mkdirSync(path.join(folder, 'assets'));
    writeFileSync(path.join(folder, 'index.html'), '<!doctype html>\n<head>\n</head>');
    writeFileSync(path.join(folder, 'assets', 'a-1.js'), 'script');
    writeFileSync(path.join(folder, 'assets', 'a-1.js.gz'), 'packed');
    writeFileSync(path.join(folder, 'secret.js'), 'not an asset');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has the assets of the build with their compressed copies, and nothing else of the disk', () => {
    const files = new ConsoleFiles(folder);

    expect(files.asset('a-1.js')?.packed.get('gzip')?.toString()).toBe('packed');
    expect(files.asset('a-1.js')?.contentType).toBe('text/javascript; charset=utf-8');
    expect(['../secret.js', 'a-1.js.gz', 'b.js', '', '..', '__proto__'].map((name) => files.asset(name))).toEqual([null, null, null, null, null, null]);
  });

  it('tells the page where it stands', () => {
    expect(new ConsoleFiles(folder).page('/a"b&c/console/').bytes.toString()).toContain('<base href="/a&quot;b&amp;c/console/">');
  });
});
