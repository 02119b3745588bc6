import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isRefused, parseMailbox, suppressionKey } from '#engine/mail/addresses.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { readSignedToken, signToken } from '#kernel/crypto/signed-token.js';
import { conflict, type Fault, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { SuppressionsStore } from '#modules/email/suppressions.store.js';
import { ForwardAddressesStore, type ForwardState } from './forward-addresses.store.js';

/**
 * Maximum number of unconfirmed addresses in a live environment, because each of them gets a confirmation mail. A test
 * environment sends no such mail. There, it is the maximum number of new addresses per day, which limits the size of
 * the table.
 */
const NEW_MAX = 100;

/** Contents of the token in a confirmation link. */
type LinkContent = [environmentId: number, address: string, nonce: Id];

/** Content of the page on which the owner of an address confirms or refuses forwarded mail. */
export interface ForwardRequest {
  address: string;
  organization: string;
  state: ForwardState;
}

/** Manages the addresses that aliases forward to. An address is used only after its owner has confirmed it. */
@Injectable()
export class ForwardAddresses {
  private key: Buffer | null = null;

  constructor(
    private readonly store: ForwardAddressesStore,
    private readonly suppressions: SuppressionsStore,
    private readonly environments: Environments,
    private readonly keyring: Keyring,
  ) {}

  /** Validates addresses. Returns the addresses in the form to store, and all validation errors. */
  async read(environmentId: number, texts: readonly string[]): Promise<{ addresses: string[]; faults: Fault[] }> {
    const faults: Fault[] = [];
    const fault = (i: number, message: string): void => void faults.push({ path: `forward_to.${i}`, message });
    const keys = texts.map((text, i) => {
      const parsed = parseMailbox(text);
      if (!isRefused(parsed) && parsed.name === '' && !/[<>]/.test(text)) return suppressionKey(parsed.address);
      fault(i, isRefused(parsed) ? parsed.refusal : 'must be an address without a name, such as ops@example.com');
      return null;
    });
    const addresses = [...new Set(keys.filter((key) => key !== null))];
    const suppressed = await this.suppressions.among(environmentId, addresses);
    const states = await this.store.statesOf(environmentId, addresses);
    keys.forEach((key, i) => {
      if (key === null) return;
      if (suppressed.has(key)) fault(i, 'is on the suppression list');
      if (states.get(key) === 'refused') fault(i, 'belongs to a person who refused forwarded mail');
    });
    return { addresses, faults };
  }

  /**
   * Requests confirmation from the owners of new addresses, in the caller's transaction. A test environment sends no
   * mail to other servers, so its addresses count as confirmed. Throws 409 above the limit of new addresses.
   */
  async request(environmentId: number, addresses: readonly string[]): Promise<void> {
    if (addresses.length === 0) return;
    const { mode } = await this.environments.get(environmentId);
    const state = mode === 'test' ? 'confirmed' : 'pending';
    for (const address of addresses) await this.store.request(environmentId, address, randomUUID(), state);
    if ((await this.store.count(environmentId, state)) > NEW_MAX)
      throw conflict(
        mode === 'test'
          ? `At most ${NEW_MAX} forward addresses can be added to a test environment in a day. Wait, or use earlier ones.`
          : `At most ${NEW_MAX} forward addresses of an environment can await confirmation. An address that you remove counts for a day after its request.`,
        { limit: NEW_MAX },
      );
  }

  statesOf(environmentId: number, addresses: readonly string[]): Promise<ReadonlyMap<string, ForwardState>> {
    return this.store.statesOf(environmentId, addresses);
  }

  tokenFor(environmentId: number, address: string, nonce: Id): string {
    return signToken(this.signingKey(), [environmentId, address, nonce] satisfies LinkContent);
  }

  /** Returns the request that a link belongs to. Throws 404 for an invalid link, and after the address was removed. */
  async find(token: string): Promise<ForwardRequest> {
    const [environmentId, address, nonce] = this.contentOf(token);
    const row = await this.store.find(environmentId, address, nonce);
    if (row === null) throw noSuch('request');
    const { organizationSlug } = await this.environments.get(environmentId);
    return { address, organization: organizationSlug, state: row.state };
  }

  /** Records the owner's decision. Throws 404 for an invalid link, and 409 for a confirmation after a refusal. */
  async decide(token: string, state: 'confirmed' | 'refused'): Promise<void> {
    const request = await this.find(token);
    if (request.state === state) return;
    if (!(await this.store.decide(...this.contentOf(token), state)))
      throw conflict('The address has refused forwarded mail before. That cannot be undone here.');
  }

  private contentOf(token: string): LinkContent {
    const content = readSignedToken(this.signingKey(), token) as LinkContent | null;
    if (content === null) throw noSuch('request');
    return content;
  }

  private signingKey(): Buffer {
    return (this.key ??= this.keyring.derived('posthorn forward addresses v1'));
  }
}
