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
    mkdirSync(path.join(folder, '.vite'));
    writeFileSync(
      path.join(folder, '.vite', 'manifest.json'),
      JSON.stringify({
        'index.html': { file: 'assets/a-1.js' },
        'src/events/EventsScreen.tsx': { file: 'assets/b-1.js', css: ['assets/b-1.css'], imports: ['index.html'] },
      }),
    );
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has the assets of the build with their compressed copies, and no other files', () => {
    const files = new ConsoleFiles(folder);

    expect(files.asset('a-1.js')?.packed.get('gzip')?.toString()).toBe('packed');
    expect(files.asset('a-1.js')?.contentType).toBe('text/javascript; charset=utf-8');
    expect(['../secret.js', 'a-1.js.gz', 'b.js', '', '..', '__proto__'].map((name) => files.asset(name))).toEqual([
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  it('lists the files of a screen in its page with their types, and none for an unknown screen', () => {
    const files = new ConsoleFiles(folder);
    const page = (screen?: string): string => files.page('/console/', screen).bytes.toString();

    expect(page('events')).toMatch(
      /<link rel="modulepreload" crossorigin href=".\/assets\/b-1.js">\s*<link rel="stylesheet" crossorigin href=".\/assets\/b-1.css">\s*<\/head>/,
    );
    expect(files.page('/console/', 'events').etag).not.toBe(files.page('/console/').etag);
    expect([page('nothing'), page('__proto__'), page('')]).toEqual([page(), page(), page()]);
    expect(page()).not.toContain('<link');
  });

  it('adds the base path to the page', () => {
    expect(new ConsoleFiles(folder).page('/a"b&c/console/').bytes.toString()).toContain(
      '<base href="/a&quot;b&amp;c/console/">',
    );
  });
});
