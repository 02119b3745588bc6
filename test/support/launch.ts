import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };

/** What `npm start` gives Node.js before the program: tests run what users run. */
export const NODE_FLAGS: readonly string[] = scripts.start.split(' ').filter((word) => word.startsWith('--'));
