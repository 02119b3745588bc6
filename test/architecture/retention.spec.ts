import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ROOT, textOf } from './source-tree.js';

/**
 * Files with statements that remove rows or partitions by age, each with the file of the job that runs them. Each job
 * must check `RetentionGate` before every run.
 */
const JOBS: Readonly<Record<string, string>> = {
  'src/blobs/blob-sweep.ts': 'src/blobs/blob-sweep.ts',
  'src/http/idempotency.store.ts': 'src/http/expired-keys.ts',
  'src/modules/agents/oauth-clients.store.ts': 'src/modules/agents/oauth-sweep.ts',
  'src/modules/agents/oauth-codes.store.ts': 'src/modules/agents/oauth-sweep.ts',
  'src/modules/agents/oauth-devices.store.ts': 'src/modules/agents/oauth-sweep.ts',
  'src/modules/audit/audit.store.ts': 'src/modules/audit/audit-months.ts',
  'src/modules/auth/sessions/sessions.store.ts': 'src/modules/auth/sessions/session-sweep.ts',
  'src/modules/domains/domain-mail-counts.store.ts': 'src/modules/domains/domain-mail-counts.ts',
  'src/modules/email/emails.store.ts': 'src/modules/email/orphan-sweep.ts',
  'src/modules/email/suppressions.store.ts': 'src/modules/email/suppression-sweep.ts',
  'src/modules/feedback/reports.store.ts': 'src/modules/feedback/report-loop.ts',
  'src/modules/inbox/actions/auto-replies.store.ts': 'src/modules/inbox/aliases/alias-sweep.ts',
  'src/modules/inbox/actions/forward-addresses.store.ts': 'src/modules/inbox/aliases/alias-sweep.ts',
  'src/modules/inbox/aliases/aliases.store.ts': 'src/modules/inbox/aliases/alias-sweep.ts',
  'src/modules/ledger/partitions.store.ts': 'src/modules/ledger/retention.ts',
  'src/modules/metrics/rollups.store.ts': 'src/modules/metrics/folding.ts',
  'src/modules/portal/portal-sessions.store.ts': 'src/modules/portal/portal-sweep.ts',
  'src/modules/sign-in/codes.store.ts': 'src/modules/sign-in/codes.ts',
};

/** Stores that remove data by age without `RetentionGate`, because the data belongs to no customer. */
const OTHERS: Readonly<Record<string, string>> = {
  'src/modules/destinations/circuits.store.ts': 'counts of failures, and circuits of targets that were deleted',
  'src/modules/ledger/worker-registry.store.ts': 'leases of workers',
};

/** Matches a statement that deletes rows by comparing a column with the time, and a statement that drops a table. */
const REMOVES_BY_TIME =
  /delete from(?:(?!`)[\s\S])*?(?:<=? *\(?(?:now|clock_timestamp)\(\)|<=? \$\d+::timestamptz)|drop table if exists/;

/** Matches a job that lets `BackgroundJobs` check `RetentionGate` before each run, or that checks it within the run. */
const ASKS = /@Every\([^)]*removesByAge: true \}\)|if \(!\(await this\.gate\.isOpen\(\)\)\)/;

const stores = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.store.ts'))
  .map((file) => path.join('src', file));

describe('data that is removed by its age', () => {
  it('is removed by a job that checks the retention gate first', () => {
    const removing = stores.filter((file) => REMOVES_BY_TIME.test(textOf(file)));

    expect(removing.length).toBeGreaterThan(8);
    expect(removing.filter((file) => !(file in JOBS) && !(file in OTHERS))).toEqual([]);
  });

  it.each([...new Set(Object.values(JOBS))])('%s asks', (job) => {
    expect(textOf(job)).toMatch(ASKS);
  });
});
