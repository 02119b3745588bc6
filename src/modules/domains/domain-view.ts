import type { DnsRecord } from '#engine/mail/dns-records.js';
import type { DomainState } from '#engine/mail/domain-state.js';
import type { DomainDkimKeyEntity, DomainEntity, StoredJudgement } from './domains.entities.js';

/** State of a DNS record. `failed` means that the record is wrong, lost, or has been missing for too long. */
export type RecordStatus = 'pending' | 'verified' | 'failed' | 'temporary_failure';

export type RecordView = DnsRecord & { status: RecordStatus; error: string | null };

export interface DomainView {
  row: DomainEntity;
  /** The domain's own DKIM keys whose DNS records must be published. */
  keys: readonly DomainDkimKeyEntity[];
  records: RecordView[];
}

export function judgedKey({ record, name }: Pick<DnsRecord, 'record' | 'name'>): string {
  return `${record} ${name}`;
}

export function viewOf({ row, keys }: Pick<DomainView, 'row' | 'keys'>, records: readonly DnsRecord[]): DomainView {
  return {
    row,
    keys,
    records: records.map((each) => {
      const judged = row.judged[judgedKey(each)] ?? { verdict: null, error: null };
      return { ...each, status: statusOf(judged, row.state, each.required), error: judged.error };
    }),
  };
}

function statusOf(
  { verdict, wasRight }: Pick<StoredJudgement, 'wasRight'> & { verdict: StoredJudgement['verdict'] | null },
  state: DomainState,
  isRequired: boolean,
): RecordStatus {
  switch (verdict) {
    case 'right':
      return 'verified';
    case 'unanswered':
      return 'temporary_failure';
    case 'wrong':
      return 'failed';
    // A missing record is normal while the customer is still publishing records. Later, it is a failure, except for an
    // optional record that never existed.
    case 'missing':
      return state !== 'pending-dns' && (isRequired || wasRight === true) ? 'failed' : 'pending';
    case null:
      return 'pending';
  }
}
