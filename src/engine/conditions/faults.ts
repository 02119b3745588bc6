/** One validation fault. `path` is the path from the root of the request body (`responseRules.rules.0.when.op`). */
export interface Fault {
  path: string;
  message: string;
}

/** Maximum number of faults, to limit the size of the error response. */
const FAULTS_MAX = 20;

/** Collects validation faults. Drops further faults after the first 20. */
export class Faults {
  readonly list: Fault[] = [];

  get isFull(): boolean {
    return this.list.length >= FAULTS_MAX;
  }

  add(path: string, message: string): void {
    if (!this.isFull) this.list.push({ path, message });
  }

  /**
   * Returns the value if it is an object, and adds faults for unknown keys. Otherwise adds a fault and returns null.
   */
  object(value: unknown, path: string, known: readonly string[]): Record<string, unknown> | null {
    if (!isObject(value)) {
      this.add(path, 'must be an object');
      return null;
    }
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) this.add(`${path}.${key.slice(0, 100)}`, `is not known here: use ${known.join(', ')}`);
    }
    return value;
  }

  /** Returns the value if it is a text of at most `bytesMax` bytes. Otherwise adds a fault and returns null. */
  text(value: unknown, path: string, bytesMax: number): string | null {
    if (typeof value !== 'string') {
      this.add(path, 'must be a string');
    } else if (Buffer.byteLength(value) > bytesMax) {
      this.add(path, `must have at most ${bytesMax} bytes`);
    } else {
      return value;
    }
    return null;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
