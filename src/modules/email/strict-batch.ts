import { Injectable } from '@nestjs/common';
import { mapAtOnce } from '#kernel/concurrency/map-at-once.js';
import { Database, isStorageAway } from '#kernel/database/database.js';
import { ApiError, type Fault, invalid, unavailable } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { type AcceptedEmail, AcceptEmail, type PreparedEmail } from './accept-email.js';
import type { FetchAllowance } from './attachment-fetch.js';
import { faultsOf } from './email-checks.js';
import type { EmailDraft, InvalidDraft } from './email-draft.js';

/** Maximum number of emails in a batch that are processed concurrently. */
export const AT_ONCE_MAX = 8;
/** Maximum number of errors listed in a response. */
const FAULTS_MAX = 50;

type Draft = EmailDraft | InvalidDraft;

/** The errors of an email, and the reason that the API returns for some of them. */
interface Refused {
  faults: Fault[];
  reason: unknown;
}

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
    const prepared = await this.prepareAll(tenant, drafts, allowed);
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
    drafts: readonly Draft[],
    allowed: FetchAllowance,
  ): Promise<PreparedEmail[]> {
    const results = await mapAtOnce(drafts, AT_ONCE_MAX, (draft) => this.prepare(tenant, draft, allowed));
    const prepared = results.filter((each): each is PreparedEmail => !('faults' in each));
    if (prepared.length < results.length) throw invalidBatch(results);
    return prepared;
  }

  /** Composes an email, or returns all its errors. */
  private async prepare(tenant: Tenant, draft: Draft, allowed: FetchAllowance): Promise<PreparedEmail | Refused> {
    try {
      return await this.accepting.prepare(tenant, draft, allowed);
    } catch (error) {
      if (!(error instanceof ApiError) || error.type !== 'validation_failed') throw error;
      return { faults: faultsOf(error), reason: error.details['reason'] };
    }
  }
}

/** Returns the error of a batch, with the errors of its emails in the order of the batch. */
function invalidBatch(results: readonly (PreparedEmail | Refused)[]): ApiError {
  const refused = results.map((each) => ('faults' in each ? each : { faults: [], reason: undefined }));
  const fields = refused
    .flatMap(({ faults }, i) =>
      faults.map(({ path, ...fault }) => ({ ...fault, path: `emails.${i}${path === '' ? '' : `.${path}`}` })),
    )
    .slice(0, FAULTS_MAX);
  const reason = refused.find((each) => each.reason !== undefined)?.reason;
  const { type, message, details } = invalid(fields);
  return new ApiError(type, `No email of the batch was accepted. ${message}`, {
    ...details,
    ...(reason !== undefined && { reason }),
  });
}
