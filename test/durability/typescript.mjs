// Lets Node.js run the tests' TypeScript without Jest: `node --conditions=source --import
// ./test/durability/typescript.mjs FILE.ts`.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
