import { Injectable } from '@nestjs/common';
import { domainOf } from '#engine/mail/addresses.js';
import { returnPathHost } from '#engine/mail/dns-records.js';
import { isAtSimulator, simulatorHost } from '#engine/mail/simulator.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { ApiError } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { type SendingDomain, type SigningKeys } from '#modules/domains/contract.js';
import { SendingDomains } from '#modules/domains/verified-domains.js';

/** A domain and the keys that sign its mail. */
export type Signer = SigningKeys & { domain: string };

export interface SenderIdentity {
  /** Domain that signs the email, in lower case and in A-labels. */
  domain: string;
  /** The domain whose keys sign. Null if the platform's key signs. */
  sendingDomain: SendingDomain | null;
  returnPathHost: string | null;
  /** True if the email is captured instead of sent. */
  isCaptured: boolean;
  /** True if the sender's domain is paused because of its bounces or complaints. */
  isPaused: boolean;
}

@Injectable()
export class SenderIdentities {
  constructor(
    private readonly domains: SendingDomains,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /**
   * Returns the identity of a sender. The address must be on a verified sending domain of the environment, or belong to
   * the simulator. Otherwise throws 422. Mail from the simulator and from test environments is captured.
   */
  async resolve(tenant: Pick<Tenant, 'environmentId' | 'mode'>, from: string): Promise<SenderIdentity> {
    const { platformDomain } = this.config;
    if (isAtSimulator(from, platformDomain)) {
      return {
        domain: simulatorHost(platformDomain),
        sendingDomain: null,
        returnPathHost: null,
        isCaptured: true,
        isPaused: false,
      };
    }
    const host = domainOf(from);
    const found = await this.domains.find(tenant.environmentId, host);
    if (found === null) throw notVerified(host, simulatorHost(platformDomain));
    return {
      domain: found.domain,
      sendingDomain: found,
      returnPathHost: found.returnPathHost,
      isCaptured: tenant.mode === 'test',
      isPaused: found.isPaused,
    };
  }

  /**
   * Returns the identity that forwards an alias's mail and signs the ARC headers. This is the alias's domain if mail
   * may be sent from it, otherwise the platform's domain. The return path's host is never null, because forwarded mail
   * needs an address for bounces.
   */
  async forwarder(
    tenant: Pick<Tenant, 'environmentId' | 'mode'>,
    aliasHost: string,
  ): Promise<SenderIdentity & { returnPathHost: string }> {
    const { platformDomain } = this.config;
    const found = await this.domains.find(tenant.environmentId, aliasHost);
    return {
      domain: found?.domain ?? platformDomain,
      sendingDomain: found,
      returnPathHost: found?.returnPathHost ?? returnPathHost(platformDomain),
      isCaptured: tenant.mode === 'test',
      isPaused: found?.isPaused ?? false,
    };
  }

  /**
   * Returns the signer of an email that was accepted from this host. If mail may no longer be sent from the host, the
   * platform's domain signs, because another environment may own the host by now. Throws 503 while storage is
   * unavailable.
   */
  async signerOf(environmentId: number, host: string): Promise<Signer> {
    const { platformDomain } = this.config;
    const isOwn = host === simulatorHost(platformDomain);
    const sendingDomain = isOwn ? null : await this.domains.find(environmentId, host);
    return this.signer(environmentId, {
      domain: sendingDomain !== null || isOwn ? host : platformDomain,
      sendingDomain,
    });
  }

  /** Returns an identity's signer. Creates missing keys in a separate transaction, so that a rollback keeps them. */
  async signer(
    environmentId: number,
    { domain, sendingDomain }: Pick<SenderIdentity, 'domain' | 'sendingDomain'>,
  ): Promise<Signer> {
    const keys = await this.database.unitOfWork(() =>
      sendingDomain === null ? this.domains.signingKey() : this.domains.signingKeysOf(environmentId, sendingDomain),
    );
    return { ...keys, domain };
  }
}

/**
 * Throws 422 if the sender's domain is paused. Emails that were accepted before the pause are not rejected but wait.
 */
export function refusePaused({ isPaused, domain }: SenderIdentity): void {
  if (!isPaused) return;
  const message = `${domain} is paused, because too many of its emails bounced or were reported as spam. GET /v1/domains/{id}/reputation has the rates, and POST /v1/domains/{id}/resume resumes the domain.`;
  throw new ApiError('validation_failed', `from: ${message}`, {
    check: 'schema',
    reason: 'domain_paused',
    fields: [{ path: 'from', message }],
  });
}

function notVerified(host: string, simulator: string): ApiError {
  const message = `${host} is not a verified sending domain here: add it with POST /v1/domains and publish its records. To try things out, send from you@${simulator}: that mail is captured, not sent.`;
  return new ApiError('validation_failed', `from: ${message}`, {
    check: 'schema',
    reason: 'domain_not_verified',
    fields: [{ path: 'from', message }],
  });
}
