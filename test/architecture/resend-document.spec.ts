import { Resend } from 'resend';
import { textOf } from './source-tree.js';

/** Methods that only the package itself calls, such as the steps of `emails.receiving.forward`. */
const INTERNAL = new Set([
  'contacts.imports.appendField',
  'contacts.imports.buildColumnMap',
  'contacts.imports.buildCreateFormData',
  'emails.receiving.downloadRaw',
  'emails.receiving.forwardPassthrough',
  'emails.receiving.forwardWrapped',
  'templates.performCreate',
]);

/** Returns the methods of an object and of its nested objects, for example `emails.attachments.get`. */
function methodsOf(group: object, path: readonly string[]): string[] {
  return Object.entries(group).flatMap(([name, value]) => {
    if (typeof value !== 'object' || value === null || name === 'resend' || name === 'headers') return [];
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(value)).filter((each) => each !== 'constructor');
    const below = [...path, name];
    return [...methods.map((each) => [...below, each].join('.')), ...methodsOf(value as object, below)];
  });
}

it('docs/email.md names every method of the resend package once, and no other', () => {
  const [, section = ''] = textOf('docs/email.md').split('## Methods of the resend package\n');
  const rows = section.split(/\n## /)[0]?.match(/^\| `.*$/gm) ?? [];
  const named = rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`([A-Za-z.]+)`/g)].map(([, name]) => name),
  );

  const methods = methodsOf(new Resend('re_test'), []).filter((name) => !INTERNAL.has(name));
  expect(methods.length).toBeGreaterThan(100);
  expect([...named].sort()).toEqual([...methods].sort());
});
