import { filesBelow, textOf } from './source-tree.js';

/** Returns the class of each `@Every` method of a file. */
function classesWithJobs(file: string): string[] {
  const text = textOf(file);
  return [...text.matchAll(/^ {2}@Every\(/gm)].map(
    ({ index }) => [...text.slice(0, index).matchAll(/^export class (\w+)/gm)].at(-1)?.[1] ?? `no class in ${file}`,
  );
}

it('every class with an @Every method is listed in a module, because jobs of other classes never run', () => {
  const sources = filesBelow('src').filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'));
  const listed = sources
    .filter((file) => file.endsWith('.module.ts'))
    .map((file) => textOf(file).replaceAll(/^import [^;]+;/gm, ''))
    .join('\n');
  const classes = [...new Set(sources.flatMap(classesWithJobs))];

  expect(classes.length).toBeGreaterThan(15);
  expect(classes.filter((name) => !new RegExp(`\\b${name}\\b`).test(listed))).toEqual([]);
});
