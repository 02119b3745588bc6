import { dkimSign } from 'mailauth/lib/dkim/sign.js';

// A separate module, so that `compose.ts` can load this library on first use: most domains have no Ed25519 key.
export { dkimSign };
