import { Logger } from '@nestjs/common';
import { recordable } from '#engine/excerpt.js';
import { DeadlinePassed, withDeadline } from '#kernel/concurrency/deadline.js';
import type { Fault } from '#kernel/errors.js';
import type { DestinationAdapter, Draft, ProbeReport } from '#modules/destinations/contract.js';

/** Adapters promise to report within ten seconds. */
const PROBE_DEADLINE_MS = 12_000;
const CHECKS: ReadonlySet<unknown> = new Set<ProbeReport['check']>([
  'schema',
  'credentials',
  'connectivity',
  undefined,
]);

const logger = new Logger('Adapters');

/** The faults that an adapter finds. One that throws, or answers what is no list of faults, has found a fault of its own. */
export function faultsOf(adapter: DestinationAdapter, draft: Draft): Fault[] {
  try {
    const faults: unknown = adapter.check(draft);
    if (isFaults(faults))
      return faults.map(({ path, message, check }) => ({
        path: recordable(path),
        message: recordable(message),
        ...(check === 'connectivity' && { check }),
      }));
    // Of a `check` that is async against its promise: its rejection would end the process.
    void Promise.resolve(faults).catch(() => undefined);
    logger.error(`The adapter of type ${draft.type} answered a check with what is no list of faults.`);
  } catch (error) {
    tell('check', draft, error);
  }
  return [
    { path: 'type', message: 'could not be checked: the adapter of this type failed. The log of the service says how' },
  ];
}

/** What an adapter's probe reports. One that throws, answers nonsense, or never, has not reached the target. */
export async function probeOf(
  adapter: DestinationAdapter,
  draft: Draft,
  deadlineMs = PROBE_DEADLINE_MS,
): Promise<ProbeReport> {
  try {
    const report: unknown = await withDeadline(deadlineMs, () => adapter.probe(draft));
    if (isReport(report)) return { ...report, detail: recordable(report.detail) };
    logger.error(`The adapter of type ${draft.type} answered a probe with what is no report.`);
  } catch (error) {
    if (error instanceof DeadlinePassed)
      return unreached(`The adapter of this type did not report within ${deadlineMs} ms.`);
    tell('probe', draft, error);
  }
  return unreached('The target could not be tried: the adapter of this type failed. The log of the service says how.');
}

function unreached(detail: string): ProbeReport {
  return { ok: false, check: 'connectivity', detail };
}

/** Its message may hold a credential: it is the operator's, not the caller's. */
function tell(what: string, { type }: Draft, error: unknown): void {
  logger.error(
    `The adapter of type ${type} failed in its ${what}: ${error instanceof Error ? error.stack : String(error)}`,
  );
}

function isFaults(value: unknown): value is Fault[] {
  return (
    Array.isArray(value) &&
    value.every(
      (each: unknown) =>
        typeof each === 'object' &&
        each !== null &&
        'path' in each &&
        typeof each.path === 'string' &&
        'message' in each &&
        typeof each.message === 'string',
    )
  );
}

function isReport(value: unknown): value is ProbeReport {
  if (typeof value !== 'object' || value === null) return false;
  const { ok, check, detail } = value as Record<string, unknown>;
  return typeof ok === 'boolean' && CHECKS.has(check) && typeof detail === 'string';
}
