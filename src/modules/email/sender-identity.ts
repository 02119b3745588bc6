import { Injectable } from '@nestjs/common';
import { domainOf } from '#engine/mail/addresses.js';
import { isAtSimulator, simulatorHost } from '#engine/mail/simulator.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { ApiError } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { type DkimKey } from '#modules/domains/contract.js';
import { SendingDomains } from '#modules/domains/verified-domains.js';

export interface SenderIdentity {
  dkim: DkimKey & { domain: string };
  returnPathHost: string | null;
  /** True if the email is captured instead of sent. */
  isCaptured: boolean;
}

@Injectable()
export class SenderIdentities {
  constructor(
    private readonly domains: SendingDomains,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /**
   * The address's domain must be a verified sending domain of the environment. The simulator's own addresses are always
   * allowed; their mail is captured, and so is all mail of a test environment. Throws 422.
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

  /** Creates the first key in a separate commit, so that a rollback of the caller's request does not remove it. */
  private signingKey(): Promise<DkimKey> {
    return this.database.unitOfWork(() => this.domains.signingKey());
  }
}

function notVerified(host: string, simulator: string): ApiError {
  const message = `${host} is not a verified sending domain here: add it with POST /v1/domains and publish its records. To try things out, send from you@${simulator}: that mail is captured, not sent.`;
  return new ApiError('validation_failed', `from: ${message}`, {
    check: 'schema',
    reason: 'domain_not_verified',
    fields: [{ path: 'from', message }],
  });
}
