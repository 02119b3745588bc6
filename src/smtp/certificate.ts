import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Certificate and key in PEM format. `cert` includes the chain. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

export class CertificateFiles {
  private version = '';

  constructor(private readonly files: { certFile: string; keyFile: string }) {}

  /** Returns the certificate, or null if it is unchanged since the last call. Throws if a file is unreadable. */
  changed(): Certificate | null {
    const cert = readFileSync(this.files.certFile);
    const key = readFileSync(this.files.keyFile);
    const version = createHash('sha256').update(cert).update('\0').update(key).digest('base64');
    if (version === this.version) return null;
    this.version = version;
    return { cert, key };
  }

  /**
   * Makes the next call of `changed` return the certificate again. Call it if the returned certificate was unusable.
   */
  forget(): void {
    this.version = '';
  }
}
