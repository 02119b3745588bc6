// Generates the types of posthorn/client from the OpenAPI document of a running service, or compares them with it:
//   node tools/generate-client.mjs http://localhost:3000 [--check]
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTypes, { astToString } from 'openapi-typescript';

const file = path.resolve(import.meta.dirname, '..', 'src', 'client', 'openapi.ts');
const [, , url, option] = process.argv;
if (url === undefined) {
  console.error('Usage: node tools/generate-client.mjs URL [--check]');
  process.exit(2);
}
const response = await fetch(new URL('/openapi.json', url));
const document = await response.json();
// Removes the URL of the running service, which differs between installations.
delete document.servers;
const text = `// Generated from /openapi.json by tools/generate-client.mjs: not edited by hand.\n${astToString(await openapiTypes(document))}`;
if (option !== '--check') {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  console.error(
    'src/client/openapi.ts differs from the OpenAPI document of the service. Start the service and run `node tools/generate-client.mjs URL`.',
  );
  process.exit(1);
}
