import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { readExpiringToken, signToken } from '#kernel/crypto/signed-token.js';
import { type Id, showId } from '#kernel/ids.js';

export const LINK_SECONDS_MIN = 60;
export const LINK_SECONDS_MAX = 2_592_000;

export interface LinkedMessage {
  environmentId: number;
  id: Id;
  aliasId: Id;
}

/** Part of a message that a link opens: the original bytes, or an attachment by its index. */
export type LinkedPart = 'raw' | number;

/** URLs of a message's parts. */
export interface MessageLinks {
  raw: string;
  attachment: (index: number) => string;
  /** Time after which the URLs no longer work. Null for URLs that need an API key and do not expire. */
  expiresAt: Date | null;
}

type Said = [environmentId: number, id: Id, aliasId: Id, part: LinkedPart, expiresAtMs: number];

/**
 * Issues links that open the files of a message without an API key. A link contains a signed token. Nothing is stored,
 * and every node accepts the link. A link stops working when it expires or when the message is erased.
 */
@Injectable()
export class SignedLinks {
  private key: Buffer | null = null;

  constructor(
    @Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>,
    private readonly clock: Clock,
    @Inject(Config) private readonly config: Pick<Config, 'baseUrl'>,
  ) {}

  /** Returns links that are valid for `seconds`. The caller must have checked that the requester may see the message. */
  issue({ environmentId, id, aliasId }: LinkedMessage, seconds: number): MessageLinks & { expiresAt: Date } {
    const expiresAtMs = this.clock.nowMs() + seconds * 1_000;
    const url = (part: LinkedPart): string =>
      `${this.config.baseUrl}/v1/mail-files?token=${signToken(this.signingKey(), [environmentId, id, aliasId, part, expiresAtMs] satisfies Said)}`;
    return { raw: url('raw'), attachment: url, expiresAt: new Date(expiresAtMs) };
  }

  /** Returns the part of the message that a token opens. Null if the token is invalid or expired. */
  read(token: string): (LinkedMessage & { part: LinkedPart }) | null {
    const said = readExpiringToken<Said>(this.signingKey(), token, this.clock.nowMs());
    if (said === null) return null;
    const [environmentId, id, aliasId, part] = said;
    return { environmentId, id, aliasId, part };
  }

  private signingKey(): Buffer {
    return (this.key ??= this.keyring.derived('posthorn mail links v1'));
  }
}

/** Returns the API's own URLs of a message. Requests to these URLs need an API key. */
export function plainLinks(baseUrl: string, { id, aliasId }: Pick<LinkedMessage, 'id' | 'aliasId'>): MessageLinks {
  const self = `${baseUrl}/v1/aliases/${showId('al', aliasId)}/messages/${showId('evt', id)}`;
  return { raw: `${self}/raw`, attachment: (index) => `${self}/attachments/${index}`, expiresAt: null };
}
