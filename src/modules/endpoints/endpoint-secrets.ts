import { Injectable } from '@nestjs/common';
import { secretFault } from '#engine/inbound/secret-fault.js';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { invalid, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type ProviderSecret, schemeOf } from './contract.js';
import { EndpointVault } from './endpoint-vault.js';
import { EndpointsStore } from './endpoints.store.js';
import { Presets } from './presets.js';

/** Maximum number of valid secrets. Providers switch to a new secret within minutes, so this number is sufficient. */
const SECRETS_MAX = 5;

/** Stores the secrets with which providers sign. The API can set secrets but never returns them. */
@Injectable()
export class EndpointSecrets {
  constructor(
    private readonly store: EndpointsStore,
    private readonly vault: EndpointVault,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly presets: Presets,
  ) {}

  /**
   * Adds a secret. Previous secrets stay valid for at most `graceMs`. Throws 404 for an unknown endpoint, and 422 for
   * an unusable secret.
   */
  async put(tenant: Tenant, id: Id, secret: string, graceMs: number): Promise<void> {
    await this.database.transaction(async () => {
      const row = await this.store.findForUpdate(tenant.environmentId, id);
      if (row === null) throw noSuch('endpoint');
      const fault = secretFault(
        schemeOf(row, (preset) => this.presets.find(preset)),
        secret,
      );
      if (fault !== null) throw invalid([{ path: 'secret', message: fault }]);
      const secrets = withNewSecret(this.vault.openSecrets(row), secret, this.clock.nowMs(), graceMs);
      await this.store.update(row, { secrets: this.vault.sealSecrets(row, secrets) });
    });
  }
}

/** Returns the secrets, the new one first. Limits the validity of old secrets to `graceMs` from now. */
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
