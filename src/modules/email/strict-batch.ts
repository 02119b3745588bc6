import { Injectable } from '@nestjs/common';
import { mapAtOnce } from '#kernel/concurrency/map-at-once.js';
import { Database, isStorageAway } from '#kernel/database/database.js';
import { ApiError, type Fault, invalid, unavailable } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { type AcceptedEmail, AcceptEmail, type PreparedEmail } from './accept-email.js';
import type { FetchAllowance } from './attachment-fetch.js';
import type { EmailDraft } from './email-draft.js';

/** Maximum number of emails in a batch that are processed concurrently. */
export const AT_ONCE_MAX = 8;
/** Maximum number of errors listed in a response. */
const FAULTS_MAX = 50;

type Draft = EmailDraft | { faults: Fault[] };

/** Accepts either all emails in a batch or none. */
@Injectable()
export class StrictBatch {
  constructor(
    private readonly accepting: AcceptEmail,
    private readonly database: Database,
  ) {}

  /**
   * Accepts all emails in one commit, and returns them. Throws 422 with the errors of all emails, with the position of
   * each email in the error's path. Throws 503 while storage is unavailable. If it throws, no email is accepted.
   */
  async acceptAll(tenant: Tenant, drafts: readonly Draft[], allowed: FetchAllowance): Promise<AcceptedEmail[]> {
    const written = drafts.map((draft) => ('faults' in draft ? draft.faults : []));
    if (written.some((faults) => faults.length > 0)) throw invalidItems(written);
    const prepared = await this.prepareAll(tenant, drafts as readonly EmailDraft[], allowed);
    await mapAtOnce(prepared, AT_ONCE_MAX, (each) => each.storeSeparately());
    try {
      await this.database.transaction(async () => {
        for (const each of prepared) await each.acceptWithin();
      });
    } catch (error) {
      if (isStorageAway(error)) throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
      throw error;
    }
    return prepared.map(({ email }) => email);
  }

  /** Composes the emails, without accepting them. */
  private async prepareAll(
    tenant: Tenant,
    drafts: readonly EmailDraft[],
    allowed: FetchAllowance,
  ): Promise<PreparedEmail[]> {
    const prepared: PreparedEmail[] = [];
    let reason: unknown;
    const refused = await mapAtOnce(drafts, AT_ONCE_MAX, async (draft, i) => {
      try {
        prepared[i] = await this.accepting.prepare(tenant, draft, allowed);
        return [];
      } catch (error) {
        if (!(error instanceof ApiError) || error.type !== 'validation_failed') throw error;
        reason ??= error.details['reason'];
        return faultsOf(error);
      }
    });
    if (refused.some((faults) => faults.length > 0)) throw invalidItems(refused, reason);
    return prepared;
  }
}

/** Returns the field errors that an API error lists, or a single error for the whole email. */
function faultsOf({ message, details }: ApiError): Fault[] {
  const fields = (details['fields'] ?? []) as Fault[];
  return fields.length > 0 ? fields : [{ path: '', message }];
}

function invalidItems(faults: readonly (readonly Fault[])[], reason?: unknown): ApiError {
  const fields = faults
    .flatMap((ofItem, i) =>
      ofItem.map(({ path, message }) => ({ path: `emails.${i}${path === '' ? '' : `.${path}`}`, message })),
    )
    .slice(0, FAULTS_MAX);
  const { type, message, details } = invalid(fields);
  return new ApiError(type, `No email of the batch was accepted. ${message}`, {
    ...details,
    ...(reason !== undefined && { reason }),
  });
}
