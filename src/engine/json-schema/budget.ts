/** A single shared error. Creating a stack trace makes V8 read the generated function, which takes too long. */
export const TOO_MUCH_WORK = new Error('The value needs too much work.');

const CHARACTERS_A_UNIT = 32;
/** Objects with up to 64 keys are read from their hidden class at almost no cost per key. Larger objects are slower. */
const FEW_KEYS = 64;
const FEW_KEYS_A_UNIT = 16;

/** Limits one validation: schemas may be hostile and block the event loop. A unit is a few dozen nanoseconds. */
export class Budget {
  private unitsLeft = 0;

  refill(units: number): void {
    this.unitsLeft = units;
  }

  /** @throws TOO_MUCH_WORK when the budget is used up */
  spend(units: number): void {
    this.unitsLeft -= units;
    if (this.unitsLeft < 0) throw TOO_MUCH_WORK;
  }

  /** Charges one subschema on one value: a fixed cost `own`, and `scans` keywords that may read the whole value. */
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
