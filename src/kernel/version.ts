import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const VERSION = packageVersion();

export const USER_AGENT = `Posthorn/${VERSION}`;

/** Returns the version in the nearest `package.json` above this file, whether or not the file is compiled. */
function packageVersion(): string {
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const file = path.join(folder, 'package.json');
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  }
  throw new Error('package.json is missing.');
}
