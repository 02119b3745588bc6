/** Maps a package to its wrong requirement on Node.js. */
export const TRIMMED: Readonly<Record<string, string>>;

/** The fields of `package-lock.json` that are used. */
export interface Lock {
  packages: Record<string, { engines?: Record<string, string> }>;
}

export function trimmed(lock: Lock): Lock;
