import { readFileSync, statSync } from 'node:fs';

/** How often the file is looked at, at most. */
const LOOK_EVERY_MS = 1_000;

/**
 * What a small file of the system says, read again when it has changed. A file that is not there, or can't be read, is
 * an empty one.
 *
 * It is read in one go: the threads that asynchronous reading needs are those that `getaddrinfo` of other clients holds.
 */
export class WatchedFile<T> {
  private value: T | null = null;
  private version = '';
  private lookAgainAt = Number.NEGATIVE_INFINITY;

  /** `nowMs` is a monotonic clock. */
  constructor(
    private readonly path: string,
    private readonly parse: (text: string) => T,
    private readonly nowMs: () => number,
  ) {}

  read(): T {
    const nowMs = this.nowMs();
    if (this.value !== null && nowMs < this.lookAgainAt) return this.value;
    this.lookAgainAt = nowMs + LOOK_EVERY_MS;
    const version = this.versionNow();
    if (this.value === null || version !== this.version) {
      this.version = version;
      this.value = this.parse(this.text());
    }
    return this.value;
  }

  private versionNow(): string {
    const stat = statSync(this.path, { throwIfNoEntry: false });
    return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
  }

  private text(): string {
    try {
      return readFileSync(this.path, 'utf8');
    } catch {
      return '';
    }
  }
}
