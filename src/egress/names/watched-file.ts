import { readFileSync, statSync } from 'node:fs';

const LOOK_EVERY_MS = 1_000;

/**
 * Parsed content of a small system file. Reads the file again when it changes. Treats a missing or unreadable file as
 * empty. Reads synchronously: an asynchronous read would wait for the thread pool, which `getaddrinfo` calls may
 * occupy.
 */
export class WatchedFile<T> {
  private value: T | null = null;
  private version = '';
  private lookAgainAt = Number.NEGATIVE_INFINITY;

  /** `nowMs` returns the time on a monotonic clock, in milliseconds. */
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
