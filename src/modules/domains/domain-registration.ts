import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { DomainKind } from '#engine/mail/dns-records.js';
import { readHost } from '#engine/mail/domain-host.js';
import { algorithmsOf, GRACE_SECONDS_DEFAULT } from '#engine/mail/domain-keys.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { conflict, invalid } from '#kernel/errors.js';
import { Ids, idTimeMs, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { DkimChoice } from './domain-dkim.js';
import { DomainKeys } from './domain-keys.js';
import type { DomainView } from './domain-view.js';
import type { DomainDkimKeyEntity, DomainEntity } from './domains.entities.js';
import { DomainsService } from './domains.service.js';
import { DomainsStore } from './domains.store.js';
import { MxGate } from './mx-gate.js';

export interface NewDomain {
  /** Domain name as the caller wrote it. */
  domain: string;
  kind: DomainKind;
  isMxAcknowledged: boolean;
  dkim: DkimChoice;
}

const DOMAINS_MAX = 1_000;
const TOKEN_BYTES = 20;
/** Delay of the first check in milliseconds. The customer needs time to publish the records. */
const FIRST_CHECK_MS = 60_000;

@Injectable()
export class DomainRegistration {
  constructor(
    private readonly store: DomainsStore,
    private readonly domains: DomainsService,
    private readonly keys: DomainKeys,
    private readonly gate: MxGate,
    private readonly database: Database,
    private readonly config: Config,
    private readonly ids: Ids,
  ) {}

  /**
   * Adds a domain. Throws 422 for invalid settings, and 409 if the domain exists, the limit is reached, or another
   * server receives its mail.
   */
  async create({ environmentId }: Tenant, { domain, kind, isMxAcknowledged, dkim }: NewDomain): Promise<DomainView> {
    const reading = readHost(domain, this.config.platformDomain);
    if ('fault' in reading) throw invalid([{ path: 'domain', message: reading.fault }]);
    const { host } = reading;
    if (kind === 'webhook' && dkim.mode === 'domain')
      throw invalid([{ path: 'dkim', message: 'A webhook domain sends no mail, so it has no DKIM keys.' }]);
    if (kind === 'email') await this.gate.pass({ environmentId, host }, isMxAcknowledged);
    const id = this.ids.next();
    const nowMs = idTimeMs(id);
    const now = new Date(nowMs);
    const row: DomainEntity = {
      environmentId,
      id,
      host,
      kind,
      state: 'pending-dns',
      token: randomBytes(TOKEN_BYTES).toString('hex'),
      isOwner: false,
      isSending: false,
      isReceiving: false,
      isReturnPathSeen: false,
      judged: {},
      missingSeconds: 0,
      missingSeenAt: null,
      checks: 0,
      checkedAt: null,
      nextCheckAt: new Date(nowMs + FIRST_CHECK_MS),
      claimedUntil: null,
      version: 1,
      createdAt: now,
      updatedAt: now,
      verifiedAt: null,
      dkimSigner: dkim.mode,
      platformDkimUntil: null,
      reputation: 'healthy',
      reputationCause: null,
      reputationAt: null,
      countsSince: null,
      thresholds: null,
    };
    const keys = await this.keysOf(row, dkim);
    const view = await this.domains.viewWith({ row, keys });
    await this.database.transaction(async () => {
      await this.add(row);
      await this.keys.replace(row, keys);
    });
    return view;
  }

  private async keysOf(row: DomainEntity, { mode, algorithm }: DkimChoice): Promise<DomainDkimKeyEntity[]> {
    if (mode === 'platform') return [];
    const generated = await this.keys.generate(algorithmsOf(algorithm));
    return this.keys.withPending(row, [], generated, GRACE_SECONDS_DEFAULT);
  }

  private async add(row: DomainEntity): Promise<void> {
    await this.store.lock(row.environmentId);
    const { count, takenBy } = await this.store.occupancy(row.environmentId, row.host);
    if (takenBy !== null) {
      throw conflict(`${row.host} is a domain of this environment already. Use that one, or delete it first.`, {
        domain: showId('dom', takenBy),
      });
    }
    if (count >= DOMAINS_MAX)
      throw conflict(`An environment has at most ${DOMAINS_MAX} domains. Delete one first.`, { limit: DOMAINS_MAX });
    await this.store.insert(row);
  }
}
