import { Injectable } from '@nestjs/common';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { Validation } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';
import { type CheckReport, Reachability } from './reachability.js';

export interface ValidationReport extends Omit<CheckReport, 'isRefused'> {
  validation: Validation;
}

@Injectable()
export class Validator {
  constructor(
    private readonly store: DestinationsStore,
    private readonly reachability: Reachability,
  ) {}

  /** Checks a destination, stores the result and returns it. Throws 404 if the destination does not exist. */
  async validate(tenant: Tenant, id: Id): Promise<ValidationReport> {
    const row = await this.store.find(tenant.environmentId, id, 'listed');
    if (row === null) throw noSuch('destination');
    const report = await this.reachability.report(row);
    const validation = verdict(report, row.validation);
    if (validation !== row.validation) await this.store.update(tenant.environmentId, id, { validation });
    const { checks, detail } = report;
    return { validation, checks, detail };
  }
}

/**
 * Returns the new validation state. It is `stale` if the target was valid before and only the connection failed now.
 */
export function verdict(
  { checks, isRefused }: Pick<CheckReport, 'checks' | 'isRefused'>,
  before: Validation,
): Validation {
  if (checks.schema && checks.credentials && checks.connectivity) return 'valid';
  if (!checks.schema || !checks.credentials || isRefused) return 'invalid';
  return before === 'valid' || before === 'stale' ? 'stale' : 'invalid';
}
