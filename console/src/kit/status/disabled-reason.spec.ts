import { readFileSync } from 'node:fs';
import path from 'node:path';

const SRC = path.join(import.meta.dirname, '../../../../src');
const textOf = (file: string): string => readFileSync(path.join(SRC, file), 'utf8');

describe('the reasons that have a text', () => {
  it.each([
    ['Disabled through the API.', 'modules/destinations/changes.ts'],
    ['Disabled through the API.', 'modules/applications/application-endpoint-changes.ts'],
    ['The receiver answered 410 Gone.', 'modules/delivery/worker.ts'],
  ])('%s is in %s', (reason, file) => {
    expect(textOf(file)).toContain(`'${reason}'`);
    expect(readFileSync(path.join(import.meta.dirname, 'disabled-reason.ts'), 'utf8')).toContain(`'${reason}'`);
  });
});
