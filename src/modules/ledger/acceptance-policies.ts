import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { forwardedHeaderFaults, normalizeForwardedHeaders } from '#engine/headers.js';
import { mailHeaderFaults } from '#engine/mail/header-rules.js';
import { withDeadline } from '#kernel/concurrency/deadline.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import { providersExtending } from '#kernel/extension-points.js';
import { AcceptancePolicy, type Ruling, type Submission } from '#modules/ledger/acceptance.contract.js';

const RULING_MS_MAX = 2_000;
const REASON_CHARACTERS_MAX = 500;

/**
 * Evaluates the policies of extensions. If a policy throws or times out, the submission is not accepted, because the
 * policy might have refused it.
 */
@Injectable()
export class AcceptancePolicies implements OnModuleInit {
  private readonly logger = new Logger('Extensions');
  private policies: readonly AcceptancePolicy[] = [];

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    this.policies = providersExtending(this.discovery, AcceptancePolicy);
  }

  /** True if any extension has a policy. */
  get isRuled(): boolean {
    return this.policies.length > 0;
  }

  /** Returns the headers to add, or null. Throws 422 if a policy refuses, and 503 if a policy cannot decide. */
  async rule(submission: Submission): Promise<Record<string, string> | null> {
    const added: Record<string, string> = {};
    for (const policy of this.policies) {
      const ruling = await this.rulingOf(policy, { ...submission, headers: { ...submission.headers, ...added } });
      if (ruling === null) continue;
      if ('refuse' in ruling)
        throw new ApiError('validation_failed', ruling.refuse.slice(0, REASON_CHARACTERS_MAX), { check: 'policy' });
      Object.assign(added, normalizeForwardedHeaders(ruling.headers));
    }
    return Object.keys(added).length === 0 ? null : added;
  }

  private async rulingOf(policy: AcceptancePolicy, submission: Submission): Promise<Ruling> {
    try {
      const ruling: unknown = await withDeadline(RULING_MS_MAX, () => policy.rule(submission));
      const fault = faultOf(ruling, submission);
      if (fault === null) return ruling as Ruling;
      throw new Error(fault);
    } catch (error) {
      this.logger.error(
        `The acceptance policy ${policy.constructor.name} failed: ${error instanceof Error ? error.stack : String(error)}`,
      );
      throw unavailable('A policy of this service could not decide. Nothing was accepted, send it again.');
    }
  }
}

/** Returns the error in a policy's decision, or null. The compiler does not check the types of extensions. */
function faultOf(ruling: unknown, { kind, headers: given }: Pick<Submission, 'kind' | 'headers'>): string | null {
  if (ruling === null) return null;
  if (typeof ruling !== 'object') return 'It returned neither null, nor { refuse }, nor { headers }.';
  const { refuse, headers, ...unknown } = ruling as Record<string, unknown>;
  const [stranger] = Object.keys(unknown);
  if (stranger !== undefined) return `It returned the unknown field ${stranger}.`;
  if (refuse !== undefined)
    return headers === undefined && typeof refuse === 'string' && refuse.trim() !== ''
      ? null
      : 'A refusal must be { refuse: "a sentence" } and have no other field.';
  const isTexts =
    typeof headers === 'object' &&
    headers !== null &&
    Object.values(headers).every((value) => typeof value === 'string');
  if (!isTexts) return 'It returned neither null, nor { refuse }, nor { headers } with string values.';
  const added = headers as Record<string, string>;
  // The headers of an email must follow additional rules, some of which apply to all headers together.
  const [fault] =
    kind === 'email'
      ? mailHeaderFaults({ ...given, ...normalizeForwardedHeaders(added) })
      : forwardedHeaderFaults(added);
  return fault === undefined ? null : `${fault.path}: ${fault.message}`;
}
