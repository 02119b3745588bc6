import { type CodeLogs, LOG_LEVELS } from '#engine/code-logs.js';
import { HIDDEN } from '#kernel/crypto/sensitive-headers.js';

export const LOG_LINES_MAX = 100;
export const LOG_LINE_LENGTH_MAX = 1_000;
const LOG_BYTES_MAX = 16 * 1024;

/** Collects lines up to the limits, and drops further lines. */
export class LogCollector {
  private readonly lines: CodeLogs['lines'] = [];
  private bytes = 0;
  private truncated = false;

  constructor(private readonly mask: SecretMask) {}

  add(level: string, text: string, isCut: boolean): void {
    const line = this.mask.apply(text, isCut).replace(/(?![\n\t])[\p{Cc}\p{Cs}]/gu, ' ');
    this.bytes += Buffer.byteLength(line);
    const isFull = this.lines.length >= LOG_LINES_MAX || this.bytes > LOG_BYTES_MAX;
    this.truncated ||= isCut || isFull;
    if (!isFull) this.lines.push({ level: LOG_LEVELS.find((each) => each === level) ?? 'log', text: line });
  }

  /** Returns the collected logs, or null if the code wrote nothing. */
  get logs(): CodeLogs | null {
    const { lines, truncated } = this;
    return lines.length > 0 || truncated ? { lines, truncated } : null;
  }
}

/** Replaces values of secrets by `(hidden)`, even where they are escaped as in JSON. */
export class SecretMask {
  private readonly values: readonly string[];

  constructor(secrets: readonly string[]) {
    this.values = [...new Set(secrets.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))]
      .filter((value) => value !== '')
      .sort((a, b) => b.length - a.length);
  }

  /**
   * Returns the masked text. If the text was cut, it may end with the first characters of a secret. These characters
   * are removed too.
   */
  apply(text: string, isCut: boolean): string {
    const masked = this.values.reduce((rest, value) => rest.replaceAll(value, HIDDEN), text);
    const tail = isCut ? Math.max(0, ...this.values.map((value) => overlap(masked, value))) : 0;
    return tail === 0 ? masked : masked.slice(0, -tail);
  }
}

/** Returns the length of the longest suffix of `text` that is a prefix of `value`. */
function overlap(text: string, value: string): number {
  let length = Math.min(text.length, value.length);
  while (length > 0 && !text.endsWith(value.slice(0, length))) length -= 1;
  return length;
}
