import { Logger } from '@nestjs/common';
import { recordable } from '#engine/excerpt.js';
import { DeadlinePassed, withDeadline } from '#kernel/concurrency/deadline.js';
import type { Fault } from '#kernel/errors.js';
import type { DestinationAdapter, Draft, ProbeReport } from '#modules/destinations/contract.js';

/** Time limit of a probe in milliseconds: slightly longer than the ten seconds that an adapter may take. */
const PROBE_DEADLINE_MS = 12_000;
const CHECKS: ReadonlySet<unknown> = new Set<ProbeReport['check']>([
  'schema',
  'credentials',
  'connectivity',
  undefined,
]);

const logger = new Logger('Adapters');

/** Returns the errors that the adapter finds in the draft. Throws if the adapter throws or returns an invalid list. */
export function faultsOf(adapter: DestinationAdapter, draft: Draft): Fault[] {
  try {
    const faults: unknown = adapter.check(draft);
    if (isFaults(faults))
      return faults.map(({ path, message, check }) => ({
        path: recordable(path),
        message: recordable(message),
        ...(check === 'connectivity' && { check }),
      }));
    // `check` must be synchronous. If it returns a promise, an unhandled rejection would end the process.
    void Promise.resolve(faults).catch(() => undefined);
    logger.error(`The adapter of type ${draft.type} answered a check with an invalid list of faults.`);
  } catch (error) {
    logFailure('check', draft, error);
  }
  return [
    {
      path: 'type',
      message: 'could not be checked: the adapter of this type failed. See the log of the service for the error',
    },
  ];
}

/** Returns a probe's report. If the probe throws, is slow or returns an invalid report, the target is unreachable. */
export async function probeOf(
  adapter: DestinationAdapter,
  draft: Draft,
  deadlineMs = PROBE_DEADLINE_MS,
): Promise<ProbeReport> {
  try {
    const report: unknown = await withDeadline(deadlineMs, () => adapter.probe(draft));
    if (isReport(report)) return { ...report, detail: recordable(report.detail) };
    logger.error(`The adapter of type ${draft.type} answered a probe with an invalid report.`);
  } catch (error) {
    if (error instanceof DeadlinePassed)
      return unreached(`The adapter of this type did not report within ${deadlineMs} ms.`);
    logFailure('probe', draft, error);
  }
  return unreached(
    'The target could not be tried: the adapter of this type failed. See the log of the service for the error.',
  );
}

function unreached(detail: string): ProbeReport {
  return { ok: false, check: 'connectivity', detail };
}

/** Logs an error for the operator. The caller does not get the error's message, which may contain a credential. */
function logFailure(what: string, { type }: Draft, error: unknown): void {
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
