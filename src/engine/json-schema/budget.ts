/**
 * Thrown where the work is used up. One for all, as it says nothing of where: for a stack trace V8 would read the whole
 * generated function again, which takes longer than all that the budget allows.
 */
export const TOO_MUCH_WORK = new Error('The value needs too much work.');

const CHARACTERS_A_UNIT = 32;
/** Objects of up to so many keys are read from their shape, which costs next to nothing a key; larger ones are dictionaries. */
const FEW_KEYS = 64;
const FEW_KEYS_A_UNIT = 16;

/**
 * How much work one look at a value may still be. A unit is a few dozen nanoseconds, whatever is being done: schemas are
 * hostile, and they run where every other request waits.
 */
export class Budget {
  private unitsLeft = 0;

  refill(units: number): void {
    this.unitsLeft = units;
  }

  /** Throws `TOO_MUCH_WORK`. */
  spend(units: number): void {
    this.unitsLeft -= units;
    if (this.unitsLeft < 0) throw TOO_MUCH_WORK;
  }

  /**
   * One subschema meets one value. `own` is what its keywords cost whatever they meet; `scans` is how many of them may
   * go through all of the value: its characters, or its keys.
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
