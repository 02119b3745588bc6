import { createRequire } from 'node:module';
import type { arc, createSeal } from 'mailauth/lib/arc/index.js';
import type { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import type { evaluateDmarc } from 'mailauth/lib/dmarc/index.js';
import type { spf } from 'mailauth/lib/spf/index.js';

/**
 * Loads functions that mailauth does not export. `package.json` accepts only patch releases, and
 * `library-internals.spec.ts` fails if a file moves. mailauth's main entry cannot be used, because it also loads code
 * that needs Node.js 22.19 (docs/adr/0021).
 */
const require = createRequire(import.meta.url);

interface SenderChecks {
  evaluateDmarc: typeof evaluateDmarc;
  spf: typeof spf;
}

interface SignatureChecks {
  arc: typeof arc;
  dkimVerify: typeof dkimVerify;
}

/** Loads the function that creates ARC sets. It runs on worker threads. */
export function loadSealing(): { createSeal: typeof createSeal } {
  return require('mailauth/lib/arc/index.js') as { createSeal: typeof createSeal };
}

/** Loads the checks that need the network. They run on the main thread. */
export function loadSenderChecks(): SenderChecks {
  return { ...require('mailauth/lib/spf/index.js'), ...require('mailauth/lib/dmarc/index.js') } as SenderChecks;
}

/** Loads the checks that do not need the network. They run on worker threads. */
export function loadSignatureChecks(): SignatureChecks {
  return { ...require('mailauth/lib/dkim/verify.js'), ...require('mailauth/lib/arc/index.js') } as SignatureChecks;
}
