import { Injectable } from '@nestjs/common';
import { publishedKeys } from '#engine/mail/domain-keys.js';
import { afterCheck, type DomainStanding, restMs } from '#engine/mail/domain-state.js';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { showId } from '#kernel/ids.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { DomainKeys } from './domain-keys.js';
import { DomainRecords, type JudgedDnsRecord } from './domain-records.js';
import { judgedKey } from './domain-view.js';
import type { DomainEntity, StoredJudgement } from './domains.entities.js';
import { type DomainPlace, DomainsStore } from './domains.store.js';

/**
 * Result of a check. `void`: discarded, because the domain was changed, deleted or checked by another process in the
 * meantime.
 */
export type CheckOutcome = 'verified' | 'incomplete' | 'unanswered' | 'void';

/**
 * Duration of a check's lease. If the checking process crashes, another process can check the domain after this time.
 */
export const CLAIM_SECONDS = 30;
/** Minimum time between two checks of one domain that query name servers. */
const REST_SECONDS_MIN = 5;
const TAKEN =
  'Another environment of this installation has verified this domain. Delete it there first, or ask the operator who owns it.';

/** Checks the DNS records of domains. A lease keeps two processes from checking a domain at the same time. */
@Injectable()
export class DomainChecks {
  constructor(
    private readonly store: DomainsStore,
    private readonly records: DomainRecords,
    private readonly keys: DomainKeys,
    private readonly database: Database,
    private readonly events: SystemEvents,
    private readonly clock: Clock,
  ) {}

  /** Checks a domain on request. Does nothing while a check is running, or if a check ended in the last few seconds. */
  async ask(place: DomainPlace): Promise<void> {
    // Commits the lease before the check, so that other processes see it during the check, which takes seconds.
    const isClaimed = await this.database.unitOfWork(() => this.store.claim(place, CLAIM_SECONDS, REST_SECONDS_MIN));
    if (isClaimed) await this.run(place, true);
  }

  /**
   * Checks a domain and returns the outcome. The caller must hold the domain's lease. After an error, retries in a
   * minute.
   */
  async run(place: DomainPlace, isAsked: boolean): Promise<CheckOutcome> {
    try {
      const row = await this.store.find(place.environmentId, place.id);
      if (row === null) return 'void';
      // Runs outside of any transaction, because DNS queries may take seconds.
      const published = publishedKeys(row, await this.keys.ofDomain(row), this.clock.nowMs());
      const seen = await this.records.look(row, published);
      return await this.database.transaction(() => this.record(row, seen, isAsked));
    } catch (error) {
      await this.store.release(place, 60_000).catch(() => undefined);
      throw error;
    }
  }

  /** Records a check's result and returns the outcome: `void` if the domain's version has changed in the meantime. */
  private async record(
    checked: DomainEntity,
    seen: readonly JudgedDnsRecord[],
    isAsked: boolean,
  ): Promise<CheckOutcome> {
    const { environmentId, id, host, kind } = checked;
    await this.store.lockHost(host);
    const row = await this.store.findForUpdate(environmentId, id);
    if (row === null) return 'void';
    if (row.version !== checked.version) {
      await this.store.release(row, 0);
      return 'void';
    }
    const isOwnedElsewhere = !row.isOwner && (await this.store.isOwnedElsewhere(row));
    const judged = isOwnedElsewhere ? seen.map(refused) : seen;
    const nowMs = this.clock.nowMs();
    const after = afterCheck(standingOf(row), kind, judged, nowMs, isAsked);
    const proof = judged.find(({ record }) => record === 'ownership')?.verdict;
    const checks = after.state === row.state ? row.checks + 1 : 1;
    const returnPath = judged.filter(({ record }) => record === 'mail_from' || record === 'spf');
    await this.store.update(row, {
      ...columnsOf(after),
      ...(await this.keys.recordFound(row, selectorsFound(judged), nowMs)),
      isOwner: proof === 'right' || (row.isOwner && (after.state !== 'failed' || proof === 'unanswered')),
      // A temporary failure of a name server does not change the return path of the domain's mail.
      isReturnPathSeen:
        returnPath.length > 0 &&
        returnPath.every(({ verdict }) => verdict === 'right' || (verdict === 'unanswered' && row.isReturnPathSeen)),
      judged: Object.fromEntries(judged.map((each) => [judgedKey(each), toStore(each, row)])),
      checks,
      checkedAt: new Date(nowMs),
      nextCheckAt: new Date(nowMs + restMs(after, checks, this.clock.random())),
      claimedUntil: null,
      verifiedAt: after.state === 'verified' && row.state !== 'verified' ? new Date(nowMs) : row.verifiedAt,
    });
    if (after.state !== row.state) await this.noteSystemEvent(row, after, judged);
    if (
      after.state === 'verified' &&
      judged.filter(({ required }) => required).every(({ verdict }) => verdict === 'right')
    )
      return 'verified';
    return judged.some(({ verdict }) => verdict === 'unanswered') ? 'unanswered' : 'incomplete';
  }

  private async noteSystemEvent(
    { environmentId, id, host, kind }: DomainEntity,
    { state }: DomainStanding,
    judged: readonly JudgedDnsRecord[],
  ): Promise<void> {
    if (state === 'pending-dns') return;
    const about = { domain: showId('dom', id), host, kind };
    const missing = judged.filter(
      ({ required, verdict }) => required && (verdict === 'missing' || verdict === 'wrong'),
    );
    const details =
      state === 'verified' ? about : { ...about, missing: missing.map(({ type, name }) => `${type} ${name}`) };
    await this.events.note({
      environmentId,
      type: state === 'verified' ? 'domain.verified' : 'domain.failed',
      subject: id,
      details,
    });
  }
}

export function standingOf({
  state,
  isSending,
  isReceiving,
  missingSeconds,
  missingSeenAt,
}: DomainEntity): DomainStanding {
  return {
    state,
    isSending,
    isReceiving,
    missingMs: missingSeconds * 1_000,
    missingSeenAtMs: missingSeenAt?.getTime() ?? null,
  };
}

export function columnsOf({
  state,
  isSending,
  isReceiving,
  missingMs,
  missingSeenAtMs,
}: DomainStanding): Pick<DomainEntity, 'state' | 'isSending' | 'isReceiving' | 'missingSeconds' | 'missingSeenAt'> {
  const missingSeenAt = missingSeenAtMs === null ? null : new Date(missingSeenAtMs);
  return { state, isSending, isReceiving, missingSeconds: Math.round(missingMs / 1_000), missingSeenAt };
}

function toStore({ verdict, error, ...record }: JudgedDnsRecord, { judged }: DomainEntity): StoredJudgement {
  const before = judged[judgedKey(record)];
  return { verdict, error, wasRight: [verdict, before?.verdict].includes('right') || before?.wasRight === true };
}

/** Returns the selectors whose key records are correct. */
function selectorsFound(judged: readonly JudgedDnsRecord[]): Set<string> {
  const found = judged.filter(({ record, verdict }) => record === 'dkim' && verdict === 'right');
  return new Set(found.map(({ name }) => name.slice(0, name.indexOf('.'))));
}

/**
 * Marks a correct ownership record as wrong, because another environment owns the domain. Returns other records
 * unchanged.
 */
function refused(seen: JudgedDnsRecord): JudgedDnsRecord {
  return seen.record === 'ownership' && seen.verdict === 'right' ? { ...seen, verdict: 'wrong', error: TAKEN } : seen;
}
