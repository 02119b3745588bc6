/**
 * Error that all validations share. Creating an error is slow, because V8 reads the generated function for the stack
 * trace.
 */
export const TOO_MUCH_WORK = new Error('The value needs too much work.');

const CHARACTERS_A_UNIT = 32;
/** Number of keys up to which V8 reads an object's keys from its hidden class. Larger objects are slower. */
const FEW_KEYS = 64;
const FEW_KEYS_A_UNIT = 16;

/**
 * Limits the work of one validation, because a hostile schema could block the event loop. Work is counted in units of a
 * few dozen ns.
 */
export class Budget {
  private unitsLeft = 0;

  refill(units: number): void {
    this.unitsLeft = units;
  }

  /** Deducts units. @throws TOO_MUCH_WORK when the budget is used up */
  spend(units: number): void {
    this.unitsLeft -= units;
    if (this.unitsLeft < 0) throw TOO_MUCH_WORK;
  }

  /**
   * Deducts the cost of validating a value against a subschema: `own` units, plus `scans` times the cost of reading the
   * value.
   */
  step(own: number, scans: number, value: unknown): void {
    if (typeof value === 'string') {
      this.spend(own + Math.floor((value.length * scans) / CHARACTERS_A_UNIT));
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const keys = Object.keys(value).length;
      this.spend(own + (keys > FEW_KEYS ? keys * scans : Math.floor((keys * scans) / FEW_KEYS_A_UNIT)));
    } else {
      this.spend(own);
    }
  }
}
