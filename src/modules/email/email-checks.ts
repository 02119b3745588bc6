import { ApiError, type Fault, invalid } from '#kernel/errors.js';

/**
 * Runs the checks of an email that need more than its fields. Throws the first error at once or, if `isThorough` is
 * true, collects the errors of all checks.
 */
export class EmailChecks {
  private readonly faults: Fault[];
  private reason: unknown = undefined;

  /** `faults` are the errors in the email's fields. */
  constructor(
    private readonly isThorough: boolean,
    faults: readonly Fault[] = [],
  ) {
    this.faults = [...faults];
  }

  /** Resolves to the result of a check, or to null if its error was collected. Rethrows errors other than 422. */
  async run<T>(check: Promise<T>): Promise<T | null> {
    try {
      return await check;
    } catch (error) {
      if (!this.isThorough || !(error instanceof ApiError) || error.type !== 'validation_failed') throw error;
      this.faults.push(...faultsOf(error));
      this.reason ??= error.details['reason'];
      return null;
    }
  }

  get hasFailed(): boolean {
    return this.faults.length > 0;
  }

  /** Returns 422 with the collected errors, and with the reason of the first check that gives one. */
  error(): ApiError {
    const { type, message, details } = invalid(this.faults);
    return new ApiError(type, message, { ...details, ...(this.reason !== undefined && { reason: this.reason }) });
  }
}

/** Returns the field errors that an API error lists, or a single error for the whole email. */
export function faultsOf({ message, details }: ApiError): Fault[] {
  const fields = (details['fields'] ?? []) as Fault[];
  if (fields.length === 0) return [{ path: '', message }];
  return details['check'] === 'connectivity' ? fields.map((each) => ({ ...each, check: 'connectivity' })) : fields;
}
