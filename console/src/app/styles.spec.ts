import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const SOURCE = path.resolve(import.meta.dirname, '..');
/** The portal is a page of its own, so its styles do not meet those of the screens. */
const FILES = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.css') && !file.startsWith('portal/'),
);
const SCREEN_FILES = FILES.filter((file) => !/^(kit|app)\//.test(file));

/** Returns the selectors of a style sheet. */
function selectorsOf(file: string): string[] {
  const source = readFileSync(path.join(SOURCE, file), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
  return [...source.matchAll(/([^{}]+)\{/g)]
    .map(([, selectors = '']) => selectors.trim())
    .filter((selectors) => !selectors.startsWith('@') && !/^(from|to|\d)/.test(selectors))
    .flatMap((selectors) => selectors.split(/,(?![^(]*\))/))
    .map((selector) => selector.trim());
}

/** Returns the first class of a selector that begins with a class. */
const firstClassOf = (selector: string): string | undefined => /^\.([\w-]+)/.exec(selector)?.[1];

describe('the styles of the screens', () => {
  const owners = new Map<string, Set<string>>();
  for (const file of FILES)
    for (const selector of selectorsOf(file)) {
      const name = firstClassOf(selector);
      if (name !== undefined) owners.set(name, (owners.get(name) ?? new Set()).add(file));
    }

  // The browser keeps the style sheet of a screen after the user has left the screen.
  it.each(SCREEN_FILES)('in %s begin with a class of this file, so that they change no other screen', (file) => {
    const foreign = selectorsOf(file).filter((selector) => owners.get(firstClassOf(selector) ?? '')?.size !== 1);

    expect(foreign).toEqual([]);
  });
});
