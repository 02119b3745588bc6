import type { DnsRecord } from '#engine/mail/dns-records.js';
import type { DomainState } from '#engine/mail/domain-state.js';
import type { DomainEntity } from './domains.entities.js';

/** How far a record is: `failed` for one that is wrong, or has been missing for too long. */
export type RecordStatus = 'pending' | 'verified' | 'failed' | 'temporary_failure';

/** A record with what is known of it. */
export type RecordView = DnsRecord & { status: RecordStatus; error: string | null };

/** A domain with its records. */
export interface DomainView {
  row: DomainEntity;
  records: RecordView[];
}

/** The name under which a record's judgement is stored. */
export function judgedKey({ record, name }: Pick<DnsRecord, 'record' | 'name'>): string {
  return `${record} ${name}`;
}

/** A domain as people see it. */
export function viewOf(row: DomainEntity, records: readonly DnsRecord[]): DomainView {
  return {
    row,
    records: records.map((each) => {
      const { verdict, error } = row.judged[judgedKey(each)] ?? { verdict: null, error: null };
      return { ...each, status: statusOf(verdict, row.state), error };
    }),
  };
}

function statusOf(verdict: DomainEntity['judged'][string]['verdict'] | null, state: DomainState): RecordStatus {
  switch (verdict) {
    case 'right':
      return 'verified';
    case 'unanswered':
      return 'temporary_failure';
    case 'wrong':
      return 'failed';
    // Nothing is there yet while people are still publishing; later it should have been.
    case 'missing':
      return state === 'pending-dns' ? 'pending' : 'failed';
    case null:
      return 'pending';
  }
}
