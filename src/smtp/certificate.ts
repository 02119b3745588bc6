import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** PEM. `cert` includes the chain. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

export class CertificateFiles {
  private version = '';

  constructor(private readonly files: { certFile: string; keyFile: string }) {}

  /** Null if it has not changed since the last call. Throws the errors of reading the files. */
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
