import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { readExpiringToken, signToken } from '#kernel/crypto/signed-token.js';
import type { Id } from '#kernel/ids.js';

/** Lifetime of a download link in milliseconds. */
const LIFETIME_MS = 3_600_000;

export interface LinkedAttachment {
  environmentId: number;
  /** Id of the email. */
  id: Id;
  /** Position of the attachment in the email. */
  index: number;
}

type Statement = [environmentId: number, id: Id, index: number, expiresAtMs: number];

/**
 * Issues download links for attachments of sent emails. The links require no API key. A link contains a signed token,
 * so nothing is stored and every node can verify it. A link is valid until it expires or the email is erased.
 */
@Injectable()
export class SignedDownloads {
  private key: Buffer | null = null;

  constructor(
    @Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>,
    private readonly clock: Clock,
    @Inject(Config) private readonly config: Pick<Config, 'baseUrl'>,
  ) {}

  /** Returns a download link and its expiry time. The caller must check whether the email may be read. */
  issue({ environmentId, id, index }: LinkedAttachment): { url: string; expiresAt: Date } {
    const expiresAtMs = this.clock.nowMs() + LIFETIME_MS;
    const token = signToken(this.signingKey(), [environmentId, id, index, expiresAtMs] satisfies Statement);
    return { url: `${this.config.baseUrl}/v1/email-attachments?token=${token}`, expiresAt: new Date(expiresAtMs) };
  }

  /** Returns the attachment that a token identifies, or null if the token is invalid or expired. */
  read(token: string): LinkedAttachment | null {
    const statement = readExpiringToken<Statement>(this.signingKey(), token, this.clock.nowMs());
    if (statement === null) return null;
    const [environmentId, id, index] = statement;
    return { environmentId, id, index };
  }

  private signingKey(): Buffer {
    return (this.key ??= this.keyring.derived('posthorn email attachments v1'));
  }
}
