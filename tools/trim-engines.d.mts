/** Package → what it asks of Node.js wrongly. */
export const TRIMMED: Readonly<Record<string, string>>;

/** A lock of npm's, as far as it is read. */
export interface Lock {
  packages: Record<string, { engines?: Record<string, string> }>;
}

export function trimmed(lock: Lock): Lock;
