import { Injectable } from '@nestjs/common';
import { secretFault } from '#engine/inbound/secret-fault.js';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { invalid, notFound } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type ProviderSecret, schemeOf } from './contract.js';
import { EndpointVault } from './endpoint-vault.js';
import { EndpointsStore } from './endpoints.store.js';

/** What a provider may take to use a new secret everywhere is a matter of minutes; more than this many were never in use at once. */
const SECRETS_MAX = 5;

/** What providers sign with: it goes in, and is never shown. */
@Injectable()
export class EndpointSecrets {
  constructor(
    private readonly store: EndpointsStore,
    private readonly vault: EndpointVault,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** A new secret; those before go on verifying for `graceMs`, as far as they still do. Throws 404, and 422 for one that nothing could ever verify with. */
  async put(tenant: Tenant, id: Id, secret: string, graceMs: number): Promise<void> {
    await this.database.transaction(async () => {
      const row = await this.store.findForUpdate(tenant.environmentId, id);
      if (row === null) throw notFound('endpoint');
      const fault = secretFault(schemeOf(row), secret);
      if (fault !== null) throw invalid([{ path: 'secret', message: fault }]);
      const secrets = withNewSecret(this.vault.openSecrets(row), secret, this.clock.nowMs(), graceMs);
      await this.store.update(row, { secrets: this.vault.sealSecrets(row, secrets) });
    });
  }
}

/** The secrets that verify from now on, the newest first: a grace of 0 ends all others, and no grace is made longer. */
export function withNewSecret(
  before: readonly ProviderSecret[],
  secret: string,
  nowMs: number,
  graceMs: number,
): ProviderSecret[] {
  const graceUntilMs = nowMs + graceMs;
  const older = before
    .filter((known) => known.secret !== secret)
    .map((known) => ({ secret: known.secret, untilMs: Math.min(known.untilMs ?? Infinity, graceUntilMs) }))
    .filter(({ untilMs }) => untilMs > nowMs);
  return [{ secret, untilMs: null }, ...older].slice(0, SECRETS_MAX);
}
