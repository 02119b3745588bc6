import { Injectable, Logger } from '@nestjs/common';
import { canonicalDomain } from '#engine/mail/addresses.js';
import { aliasesFor, withoutTag } from '#engine/mail/alias-address.js';
import { returnPathHost } from '#engine/mail/dns-records.js';
import { mailHost } from '#engine/mail/platform-zone.js';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Config } from '#kernel/config/config.js';
import { Notifications } from '#kernel/database/notifications.js';
import { ReceivingDomains } from '#modules/domains/verified-domains.js';
import { ReturnPaths } from '#modules/email/return-paths.js';
import { RewrittenSenders } from '#modules/email/rewritten-senders.js';
import { AliasLookupStore } from '../aliases/alias-lookup.store.js';
import type { AliasRoute, RecipientVerdict, SmtpAnswer } from '../contract.js';
import { ANSWERS } from './answers.js';

const ENTRIES_MAX = 20_000;
const LOCAL_MAX = 256;
/** Local parts whose mail goes to the operator of the installation (RFC 2142, providers' feedback loops). */
const OPERATOR = /^(?:postmaster|abuse)$/i;

/** Finds recipients. Caches results for at most five seconds, and clears the cache whenever an alias changes. */
@Injectable()
export class Recipients {
  private readonly logger = new Logger('Inbox');
  private readonly cache: Cache<AliasRoute | SmtpAnswer>;

  constructor(
    private readonly store: AliasLookupStore,
    private readonly domains: ReceivingDomains,
    private readonly returnAddresses: ReturnPaths,
    private readonly rewrittenSenders: RewrittenSenders,
    private readonly config: Config,
    clock: Clock,
    notifications: Notifications,
  ) {
    this.cache = new Cache((key) => this.load(key), { entriesMax: ENTRIES_MAX, nowMs: () => clock.monotonicMs() });
    // A changed catch-all alias also affects addresses that have no alias of their own, so every change clears the
    // whole cache.
    notifications.on('alias', () => this.cache.clear());
  }

  async check(address: string, declaredBytes: number): Promise<RecipientVerdict> {
    const at = address.lastIndexOf('@');
    // `postmaster` needs no domain (RFC 5321, section 4.5.1).
    const local = at === -1 ? address : address.slice(0, at);
    const domain = at === -1 ? this.config.platformDomain : canonicalDomain(address.slice(at + 1));
    if (domain === null || local === '' || local.length > LOCAL_MAX) return refused(ANSWERS.notOurs);
    if (OPERATOR.test(local) && this.isPlatforms(domain))
      return { kind: 'report', report: { environmentId: null, emailId: null } };
    if (this.returnAddresses.isMeant(local)) {
      const report = this.returnAddresses.read(local);
      return report === null
        ? refused(ANSWERS.unknown)
        : { kind: 'report', report: { environmentId: report.environmentId, emailId: report.emailId } };
    }
    // A bounce of a forwarded message is recorded, and never sent to the original sender (no backscatter).
    if (this.rewrittenSenders.read(local) !== null)
      return { kind: 'report', report: { environmentId: null, emailId: null } };
    try {
      const found = await this.cache.get(`${local.toLowerCase()}@${domain}`);
      if (!('aliasId' in found)) return refused(found);
      return found.maxSizeBytes !== null && declaredBytes > found.maxSizeBytes
        ? refused(ANSWERS.tooLarge)
        : { kind: 'alias', route: found };
    } catch (error) {
      this.logger.warn(`A recipient can't be looked up: ${(error as Error).message}`);
      return refused(ANSWERS.storageAway);
    }
  }

  /** Returns whether the domain is the platform's own, or one of the platform's hosts that receive mail. */
  private isPlatforms(domain: string): boolean {
    const { platformDomain } = this.config;
    return (
      domain === platformDomain || domain === returnPathHost(platformDomain) || domain === mailHost(platformDomain)
    );
  }

  private async load(address: string): Promise<AliasRoute | SmtpAnswer> {
    const at = address.lastIndexOf('@');
    const domain = address.slice(at + 1);
    const local = address.slice(0, at);
    if (domain === this.config.platformDomain)
      return (await this.store.platform(`${withoutTag(local)}@${domain}`)) ?? ANSWERS.unknown;
    const addresses = aliasesFor(local, domain);
    const owner = await this.domains.find(domain);
    if (owner !== null) return (await this.store.custom(owner, addresses)) ?? ANSWERS.unknown;
    // The reply `paused` is temporary, so senders keep the mail until the domain is verified or the alias is removed.
    return (await this.store.isAnywhere(addresses)) ? ANSWERS.paused : ANSWERS.notOurs;
  }
}

const refused = (answer: SmtpAnswer): RecipientVerdict => ({ kind: 'refused', answer });
