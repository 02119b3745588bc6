import { Injectable } from '@nestjs/common';
import { DEFAULT_FORWARDING } from '#engine/inbound/forwarded-url.js';
import { ApiError, checkFailed, type Fault, invalid } from '#kernel/errors.js';
import { type DestinationAdapter, type Draft, type ProbeReport } from '#modules/destinations/contract.js';
import { AdapterRegistry } from './adapter-registry.js';
import { DestinationSecrets } from './destination-secrets.js';
import type { DestinationEntity, Validation } from './destinations.entities.js';
import { adapterConfig } from './settings.js';
import { faultsOf, probeOf } from './supervised-checks.js';

/** Results of the checks. A check that is skipped after a failed check is also reported as failed. */
export interface CheckReport {
  checks: { schema: boolean; credentials: boolean; connectivity: boolean };
  /** True if connecting to the target is not allowed, whether or not it responds. */
  isRefused: boolean;
  detail: string;
}

/** Checks that URLs are reachable. Applies the same address rules as deliveries. Stores nothing. */
@Injectable()
export class Reachability {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly secrets: DestinationSecrets,
  ) {}

  /** Checks and probes a draft. Returns the validation state to store. Throws 422 with the failed check. */
  async admit(draft: Draft): Promise<Validation> {
    const adapter = this.checked(draft);
    const report = await probeOf(adapter, draft);
    if (!report.ok) throw refusal(report);
    return adapter.pulled ? 'pending' : 'valid';
  }

  /**
   * Checks a draft without a connection to the target. Returns the validation state to store. Throws 422 with the
   * failed check.
   */
  admitUnprobed(draft: Draft): Validation {
    this.checked(draft);
    return 'pending';
  }

  /** Returns whether a URL is reachable, and why not. Stores nothing. Throws 422 only for an unknown type. */
  async try(draft: Draft): Promise<{ ok: boolean; detail: string }> {
    const unsupported = this.adapters.refusal(draft.type);
    if (unsupported !== null) return { ok: false, detail: unsupported };
    const adapter = this.adapters.require(draft.type);
    // The consumers of a pulled type connect to Posthorn, so there is no target. The call requires a URL, which the type
    // does not have.
    const theirs = { ...draft, url: adapter.pulled ? null : draft.url, config: adapterConfig(draft.config) };
    const [fault] = faultsOf(adapter, theirs);
    if (fault) return { ok: false, detail: sentenceOf(fault) };
    if (adapter.pulled) return { ok: true, detail: '' };
    const { ok, detail } = await probeOf(adapter, theirs);
    return { ok, detail };
  }

  /** Returns whether an HTTPS URL is reachable. `detail` is a sentence for human readers. Stores nothing. */
  tryUrl(url: string): Promise<{ ok: boolean; detail: string }> {
    return this.try({ type: 'https', url, config: {}, credentials: null });
  }

  async report(row: DestinationEntity): Promise<CheckReport> {
    const draft = this.draft(row);
    const adapter = this.adapters.find(row.type);
    if (adapter === null) return failedFrom('schema', `No adapter serves the type ${row.type} any more.`);
    const [fault] = faultsOf(adapter, draft);
    if (fault)
      return { ...failedFrom(fault.check ?? 'schema', sentenceOf(fault)), isRefused: fault.check === 'connectivity' };
    const { ok, check = 'connectivity', detail } = await probeOf(adapter, draft);
    return ok
      ? { checks: { schema: true, credentials: true, connectivity: true }, isRefused: false, detail }
      : failedFrom(check, detail);
  }

  draft(
    row: Pick<DestinationEntity, 'environmentId' | 'id' | 'type' | 'url' | 'config' | 'credentials' | 'forward'>,
  ): Draft {
    return {
      type: row.type,
      url: row.url,
      config: adapterConfig(row.config),
      credentials: this.secrets.openCredentials(row),
      forward: row.forward ?? DEFAULT_FORWARDING,
    };
  }

  private checked(draft: Draft): DestinationAdapter {
    const adapter = this.adapters.require(draft.type);
    const faults = faultsOf(adapter, draft);
    if (faults.length > 0) throw invalid(faults);
    return adapter;
  }
}

const sentenceOf = ({ path, message, check }: Fault): string =>
  check === 'connectivity' ? message : `${path}: ${message}`;

function failedFrom(check: NonNullable<ProbeReport['check']>, detail: string): CheckReport {
  return {
    checks: { schema: check !== 'schema', credentials: check === 'connectivity', connectivity: false },
    isRefused: false,
    detail,
  };
}

function refusal({ check = 'connectivity', detail }: ProbeReport): ApiError {
  return check === 'schema'
    ? new ApiError('validation_failed', detail, { check, fields: [] })
    : checkFailed(check, detail);
}
