/**
 * Thrown when the budget is used up. A single shared instance: for each stack trace, V8 would read the whole generated
 * function again, which takes longer than the entire budget.
 */
export const TOO_MUCH_WORK = new Error('The value needs too much work.');

const CHARACTERS_A_UNIT = 32;
/**
 * Objects with up to 64 keys are read from their hidden class at almost no cost per key. Larger ones are dictionaries.
 */
const FEW_KEYS = 64;
const FEW_KEYS_A_UNIT = 16;

/**
 * Limits the work of one validation. A unit is a few dozen nanoseconds of any kind of work. Schemas may be hostile, and
 * validation blocks the event loop.
 */
export class Budget {
  private unitsLeft = 0;

  refill(units: number): void {
    this.unitsLeft = units;
  }

  /**
   * Deducts units.
   * @throws TOO_MUCH_WORK when the budget is used up
   */
  spend(units: number): void {
    this.unitsLeft -= units;
    if (this.unitsLeft < 0) throw TOO_MUCH_WORK;
  }

  /**
   * Charges the application of one subschema to one value. `own` is the fixed cost of its keywords. `scans` is the
   * number of keywords that may read the whole value, that is its characters or keys.
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
