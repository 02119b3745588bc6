/** What is wrong with one value; `path` leads to it from the root of the request's body (`responseRules.rules.0.when.op`). */
export interface Fault {
  path: string;
  message: string;
}

/** A list of faults stays readable, and small, whatever was sent. */
const FAULTS_MAX = 20;

/** Collects what is wrong; from 20 faults on it only says so. */
export class Faults {
  readonly list: Fault[] = [];

  get isFull(): boolean {
    return this.list.length >= FAULTS_MAX;
  }

  add(path: string, message: string): void {
    if (!this.isFull) this.list.push({ path, message });
  }

  /** The value as an object, with a fault for every key that is not known; null with a fault when it is none. */
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

  /** The value as a text of at most so many bytes; null with a fault when it is none. */
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
