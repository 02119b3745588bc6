import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import type { Id } from '#kernel/ids.js';
import { type MailView, type ViewedMessage } from '../viewing.contract.js';

/** Lifetime of a token. It is short, because the token is part of the URL, which browsers keep in their history. */
const LIFETIME_MS = 60_000;
const MAC_BYTES = 32;

type Said = [environmentId: number, id: Id, aliasId: Id | null, expiresAtMs: number];

/** Issues links to a message's HTML as signed tokens. Nothing is stored, and every node accepts all nodes' tokens. */
@Injectable()
export class SignedViews {
  private key: Buffer | null = null;

  constructor(
    @Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>,
    private readonly clock: Clock,
    @Inject(Config) private readonly config: Pick<Config, 'baseUrl'>,
  ) {}

  /** The caller must have checked that the requester may see the message. */
  issue({ environmentId, id, aliasId }: ViewedMessage): MailView {
    const expiresAtMs = this.clock.nowMs() + LIFETIME_MS;
    const said: Said = [environmentId, id, aliasId, expiresAtMs];
    const body = Buffer.from(JSON.stringify(said)).toString('base64url');
    const token = `${body}.${this.sign(body).toString('base64url')}`;
    return { token, url: `${this.config.baseUrl}/v1/mail-views?token=${token}`, expiresAt: new Date(expiresAtMs) };
  }

  /** Returns null if the token is invalid or expired. */
  read(token: string): ViewedMessage | null {
    const [body = '', mac = '', ...rest] = token.split('.');
    const given = Buffer.from(mac, 'base64url');
    if (rest.length > 0 || given.length !== MAC_BYTES || !timingSafeEqual(given, this.sign(body))) return null;
    const [environmentId, id, aliasId, expiresAtMs] = JSON.parse(Buffer.from(body, 'base64url').toString()) as Said;
    return expiresAtMs < this.clock.nowMs() ? null : { environmentId, id, aliasId };
  }

  private sign(body: string): Buffer {
    this.key ??= this.keyring.derived('posthorn mail views v1');
    return createHmac('sha256', this.key).update(body).digest();
  }
}
