import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A certificate with its chain, and its key, in PEM. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

/**
 * The files that the operator named, read again when what they say has changed: whoever renews certificates replaces
 * them.
 */
export class CertificateFiles {
  private version = '';

  constructor(private readonly files: { certFile: string; keyFile: string }) {}

  /** What they say now; null when that is what they said last. Throws what reading throws. */
  changed(): Certificate | null {
    const cert = readFileSync(this.files.certFile);
    const key = readFileSync(this.files.keyFile);
    const version = createHash('sha256').update(cert).update('\0').update(key).digest('base64');
    if (version === this.version) return null;
    this.version = version;
    return { cert, key };
  }

  /** What was read last can't be used: it is read again, whether it has changed or not. */
  forget(): void {
    this.version = '';
  }
}
