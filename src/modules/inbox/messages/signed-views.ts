import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { readExpiringToken, signToken } from '#kernel/crypto/signed-token.js';
import type { Id } from '#kernel/ids.js';
import { type MailView, type ViewedMessage } from '../viewing.contract.js';

/** Lifetime of a token. It is short, because the token is part of the URL, and browsers keep URLs in their history. */
const LIFETIME_MS = 60_000;

type Said = [environmentId: number, id: Id, aliasId: Id | null, expiresAtMs: number];

/**
 * Issues links to a message's HTML. A link contains a signed token. Nothing is stored, and every node accepts the link.
 */
@Injectable()
export class SignedViews {
  private key: Buffer | null = null;

  constructor(
    @Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>,
    private readonly clock: Clock,
    @Inject(Config) private readonly config: Pick<Config, 'baseUrl'>,
  ) {}

  /** Returns a link to a message's HTML. The caller must have checked that the requester may see the message. */
  issue({ environmentId, id, aliasId }: ViewedMessage): MailView {
    const expiresAtMs = this.clock.nowMs() + LIFETIME_MS;
    const token = signToken(this.signingKey(), [environmentId, id, aliasId, expiresAtMs] satisfies Said);
    return { token, url: `${this.config.baseUrl}/v1/mail-views?token=${token}`, expiresAt: new Date(expiresAtMs) };
  }

  /** Returns the message that a token names. Returns null if the token is invalid or expired. */
  read(token: string): ViewedMessage | null {
    const said = readExpiringToken<Said>(this.signingKey(), token, this.clock.nowMs());
    if (said === null) return null;
    const [environmentId, id, aliasId] = said;
    return { environmentId, id, aliasId };
  }

  private signingKey(): Buffer {
    return (this.key ??= this.keyring.derived('posthorn mail views v1'));
  }
}
