import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { type Id, Ids } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';
import type { KeyGranter } from '#modules/auth/granted-keys.contract.js';
import type { ApiKeyEntity } from '../auth.entities.js';
import { generateApiKey, hashApiKey, keyPrefix } from './api-key.js';
import { KeysStore } from './keys.store.js';

export interface KeyRequest {
  environmentId: number;
  mode: 'live' | 'test';
  name: string;
  scope: Scope;
  source: ApiKeyEntity['source'];
  expiresAt: Date | null;
  /**
   * For a granted key: the OAuth client and the approver. For a rotation of a granted key, also the first key of the
   * grant.
   */
  granted?: { clientId: string; clientName: string; grantedBy: string; granter: KeyGranter; firstKeyId: Id | null };
}

/** A key with its text, which cannot be read again later. */
export interface IssuedKey {
  row: ApiKeyEntity;
  text: string;
}

@Injectable()
export class KeyIssuer {
  constructor(
    private readonly keys: KeysStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** Stores a key and returns it with its text. Without `text`, generates the text from 32 random bytes. */
  async issue(
    { mode, granted, ...request }: KeyRequest,
    text = generateApiKey(mode, randomBytes(32)),
  ): Promise<IssuedKey> {
    const row: ApiKeyEntity = {
      ...request,
      id: this.ids.next(),
      prefix: keyPrefix(text),
      hash: hashApiKey(text),
      createdAt: this.clock.now(),
      lastUsedAt: null,
      revokedAt: null,
      clientId: granted?.clientId ?? null,
      clientName: granted?.clientName ?? null,
      grantedBy: granted?.grantedBy ?? null,
      granterMemberId: granted?.granter.memberId ?? null,
      granterKeyId: granted?.granter.keyId ?? null,
      firstKeyId: granted?.firstKeyId ?? null,
    };
    await this.keys.insert(row);
    return { row, text };
  }
}
