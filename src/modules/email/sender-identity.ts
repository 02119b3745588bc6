import { Injectable } from '@nestjs/common';
import { domainOf } from '#engine/mail/addresses.js';
import { isAtSimulator, simulatorHost } from '#engine/mail/simulator.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { ApiError } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { type DkimKey, SendingDomains } from '#modules/domains/contract.js';

/** In whose name a message leaves. */
export interface SenderIdentity {
  /** What it is signed with, and for which domain. */
  dkim: DkimKey & { domain: string };
  returnPathHost: string | null;
  /** True where nothing leaves. */
  isCaptured: boolean;
}

/** Who may send as whom. */
@Injectable()
export class SenderIdentities {
  constructor(
    private readonly domains: SendingDomains,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /**
   * Of a From address: its domain is a verified one of the environment that sends. The simulator's own addresses may always be
   * sent from, and nothing of that leaves; nor does anything of a test environment. Throws 422.
   */
  async resolve(tenant: Pick<Tenant, 'environmentId' | 'mode'>, from: string): Promise<SenderIdentity> {
    const { platformDomain } = this.config;
    if (isAtSimulator(from, platformDomain)) {
      return {
        dkim: { ...(await this.signingKey()), domain: simulatorHost(platformDomain) },
        returnPathHost: null,
        isCaptured: true,
      };
    }
    const host = domainOf(from);
    const found = await this.domains.find(tenant.environmentId, host);
    if (found === null) throw notVerified(host, simulatorHost(platformDomain));
    return {
      dkim: { ...(await this.signingKey()), domain: found.domain },
      returnPathHost: found.returnPathHost,
      isCaptured: tenant.mode === 'test',
    };
  }

  /** The first one is made when it is needed: by itself, so that no request that fails takes it back. */
  private signingKey(): Promise<DkimKey> {
    return this.database.unitOfWork(() => this.domains.signingKey());
  }
}

function notVerified(host: string, simulator: string): ApiError {
  const message = `${host} is not a verified sending domain here: add it with POST /v1/domains and publish its records. To try things out, send from you@${simulator}: nothing of that leaves.`;
  return new ApiError('validation_failed', `from: ${message}`, {
    check: 'schema',
    reason: 'domain_not_verified',
    fields: [{ path: 'from', message }],
  });
}
