import { Injectable } from '@nestjs/common';
import { afterCheck, type DomainStanding, restMs } from '#engine/mail/domain-state.js';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { showId } from '#kernel/ids.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { DomainRecords, type JudgedDnsRecord } from './domain-records.js';
import { judgedKey } from './domain-view.js';
import type { DomainEntity } from './domains.entities.js';
import { type DomainPlace, DomainsStore } from './domains.store.js';

/** Result of a check. `void` if another process checked the domain, or if it was changed or deleted meanwhile. */
export type CheckOutcome = 'verified' | 'incomplete' | 'unanswered' | 'void';

/** Lease of a check. If its process dies, other processes can check the domain after this time. */
export const CLAIM_SECONDS = 30;
/** Minimum time between two real checks of one domain. */
const REST_SECONDS_MIN = 5;
const TAKEN =
  'Another environment of this installation has verified this domain. Delete it there first, or ask the operator who owns it.';

/** Checks domains. One domain is never checked by two processes at once. */
@Injectable()
export class DomainChecks {
  constructor(
    private readonly store: DomainsStore,
    private readonly records: DomainRecords,
    private readonly database: Database,
    private readonly events: SystemEvents,
    private readonly clock: Clock,
  ) {}

  /** Checks a domain on request. Does nothing while a check runs, or if one ended within the last few seconds. */
  async ask(place: DomainPlace): Promise<void> {
    // The lease is committed at once, so that other processes see it. Name servers may take seconds.
    const isClaimed = await this.database.unitOfWork(() => this.store.claim(place, CLAIM_SECONDS, REST_SECONDS_MIN));
    if (isClaimed) await this.run(place, true);
  }

  /** Checks a domain that the caller has claimed. A failure ends the claim and schedules the next check in a minute. */
  async run(place: DomainPlace, isAsked: boolean): Promise<CheckOutcome> {
    try {
      const row = await this.store.find(place.environmentId, place.id);
      if (row === null) return 'void';
      // Outside of any transaction, because name servers may take seconds.
      const seen = await this.records.look(row);
      return await this.database.transaction(() => this.record(row, seen, isAsked));
    } catch (error) {
      await this.store.release(place, 60_000).catch(() => undefined);
      throw error;
    }
  }

  /** Discards a result for an older version of the domain, because it says nothing about the current version. */
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
      isOwner: proof === 'right' || (row.isOwner && (after.state !== 'failed' || proof === 'unanswered')),
      // A temporary failure of a name server does not change the return path of mail.
      isReturnPathSeen:
        returnPath.length > 0 &&
        returnPath.every(({ verdict }) => verdict === 'right' || (verdict === 'unanswered' && row.isReturnPathSeen)),
      judged: Object.fromEntries(judged.map((each) => [judgedKey(each), { verdict: each.verdict, error: each.error }])),
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

/** Marks a correct ownership record as wrong if another environment owns the domain. */
function refused(seen: JudgedDnsRecord): JudgedDnsRecord {
  return seen.record === 'ownership' && seen.verdict === 'right' ? { ...seen, verdict: 'wrong', error: TAKEN } : seen;
}
