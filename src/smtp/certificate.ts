import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A certificate with its chain and its key, in PEM. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

/** Reads the operator's certificate files, and detects when they are replaced by a renewal. */
export class CertificateFiles {
  private version = '';

  constructor(private readonly files: { certFile: string; keyFile: string }) {}

  /**
   * Returns the current certificate, or null if it has not changed since the last call. Throws the errors of reading
   * the files.
   */
  changed(): Certificate | null {
    const cert = readFileSync(this.files.certFile);
    const key = readFileSync(this.files.keyFile);
    const version = createHash('sha256').update(cert).update('\0').update(key).digest('base64');
    if (version === this.version) return null;
    this.version = version;
    return { cert, key };
  }

  /** Makes the next call return the certificate even if it is unchanged, because the last one was unusable. */
  forget(): void {
    this.version = '';
  }
}
