import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { EmbeddedPostgresError } from './failure.js';

/** User that PostgreSQL runs as. `null` means the user of this process. */
export type Account = { readonly uid: number; readonly gid: number } | null;

const PREFERRED = ['postgres', 'node', 'nobody'];
const OVERFLOW_ID = 65534;

/**
 * Returns the user that PostgreSQL runs as. PostgreSQL refuses to run as root, so a root process uses the cluster's
 * owner or another existing account. It never creates an account.
 *
 * @throws EmbeddedPostgresError if the cluster belongs to another user and this process is not root.
 */
export function accountFor(clusterDir: string): Account {
  const self = process.getuid?.();
  const owner = existsSync(clusterDir) ? statSync(clusterDir) : null;
  if (self !== 0) {
    if (owner !== null && owner.uid !== self) {
      throw new EmbeddedPostgresError(
        `${clusterDir} belongs to user id ${owner.uid}, but this is user id ${self}: start as that user, or set another DATA_DIR.`,
      );
    }
    return null;
  }
  return owner !== null && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : unprivilegedAccount();
}

/** Returns whether the account can traverse the path to the directory. Ignores components that do not exist yet. */
export function canReach(account: Account, directory: string): boolean {
  if (account === null) return true;
  for (let current = path.resolve(directory); ; current = path.dirname(current)) {
    if (existsSync(current) && !maySearch(account, current)) return false;
    if (current === path.dirname(current)) return true;
  }
}

function maySearch(account: { uid: number; gid: number }, directory: string): boolean {
  const { uid, gid, mode } = statSync(directory);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  return (mode & bit) !== 0;
}

function unprivilegedAccount(): { uid: number; gid: number } {
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of PREFERRED) {
    const row = rows.find(([user]) => user === name);
    // macOS stores the uid of `nobody` as -2.
    if (row) return { uid: Number(row[2]) >>> 0, gid: Number(row[3]) >>> 0 };
  }
  return { uid: OVERFLOW_ID, gid: OVERFLOW_ID };
}
