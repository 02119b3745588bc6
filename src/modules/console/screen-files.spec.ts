import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { filesOfScreens } from './screen-files.js';

describe('filesOfScreens', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-console-'));

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is empty for a build without a manifest', () => {
    expect(filesOfScreens(folder).size).toBe(0);
  });

  it('contains direct and indirect imports of the screen and their styles, without those of the page and dynamic imports', () => {
    mkdirSync(path.join(folder, '.vite'));
    writeFileSync(
      path.join(folder, '.vite', 'manifest.json'),
      JSON.stringify({
        '_kit.js': { file: 'assets/kit-1.js', css: ['assets/kit-1.css'] },
        '_table.js': { file: 'assets/table-1.js', css: ['assets/table-1.css'], imports: ['_kit.js', '_row.js'] },
        '_row.js': { file: 'assets/row-1.js', imports: ['_table.js'] },
        'index.html': {
          file: 'assets/console-1.js',
          imports: ['_kit.js'],
          dynamicImports: ['src/event-types/EventTypesScreen.tsx'],
        },
        'src/event-types/EventTypesScreen.tsx': {
          file: 'assets/EventTypesScreen-1.js',
          imports: ['index.html', '_table.js'],
          dynamicImports: ['src/event-types/ImportTypes.tsx'],
        },
        'src/event-types/ImportTypes.tsx': { file: 'assets/ImportTypes-1.js' },
      }),
    );

    expect([...filesOfScreens(folder)]).toEqual([
      ['event-types', ['assets/EventTypesScreen-1.js', 'assets/table-1.js', 'assets/table-1.css', 'assets/row-1.js']],
    ]);
  });
});
