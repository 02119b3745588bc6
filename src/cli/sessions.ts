import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { PosthornClient } from '../client/index.js';
import { CommandFailure, EXIT } from './failure.js';

export interface Session {
  api_key: string;
  scope: string | null;
  created_at: string;
  /** Whether `logout` revokes the key. True for a key from a device grant, which no other program uses. */
  is_granted: boolean;
  /** Id of the only OAuth client that may revoke the key. Absent for the command line's built-in OAuth client. */
  client_id?: string;
  /** Time at which the key expires. Absent if the service did not report it. */
  expires_at?: string;
}

interface Kept {
  current: string | null;
  sessions: Record<string, Session>;
}

export const URL_DEFAULT = 'http://localhost:3000';

/** Returns the user's configuration folder: APPDATA on Windows, XDG_CONFIG_HOME or ~/.config elsewhere. */
export function configFolder(env: NodeJS.ProcessEnv = process.env): string {
  const base = process.platform === 'win32' ? env['APPDATA'] : env['XDG_CONFIG_HOME'];
  return path.join(base !== undefined && base !== '' ? base : path.join(homedir(), '.config'), 'posthorn');
}

/** Stores sign-ins, one per service, in a file that only the user can read. */
export class Sessions {
  private readonly file: string;

  constructor(private readonly folder: string = configFolder()) {
    this.file = path.join(folder, 'credentials.json');
  }

  current(): { url: string; session: Session } | null {
    const { current, sessions } = this.read();
    const session = current === null ? undefined : sessions[current];
    return current !== null && session !== undefined ? { url: current, session } : null;
  }

  find(url: string): Session | null {
    return this.read().sessions[url] ?? null;
  }

  keep(url: string, session: Session): void {
    const { sessions } = this.read();
    this.write({ current: url, sessions: { ...sessions, [url]: session } });
  }

  forget(url: string): void {
    const { current, sessions } = this.read();
    const { [url]: _gone, ...others } = sessions;
    this.write({ current: current === url ? null : current, sessions: others });
  }

  private read(): Kept {
    try {
      // Windows has no permission bits and reports every file as readable by everyone, so the mode is not checked
      // there.
      if (process.platform !== 'win32' && (statSync(this.file).mode & 0o077) !== 0) chmodSync(this.file, 0o600);
      const { current = null, sessions = {} } = JSON.parse(readFileSync(this.file, 'utf8')) as Partial<Kept>;
      return { current, sessions };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, sessions: {} };
      throw new CommandFailure(
        `${this.file} cannot be read: ${(error as Error).message}. Remove it, and run \`posthorn login\` again.`,
      );
    }
  }

  private write(kept: Kept): void {
    writePrivately(this.folder, this.file, kept);
  }
}

/** Writes a file atomically and readable only by the user. */
export function writePrivately(folder: string, file: string, value: unknown): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Restricts the permissions of an existing folder, which may be readable by other users.
  if (process.platform !== 'win32' && (statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
  const next = `${file}.${process.pid}`;
  try {
    rmSync(next, { force: true });
    // Creates the file with these permissions, so that other users can never read it.
    writeFileSync(next, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}

/** The service URL and the key, taken from the options, then the environment, then the stored sign-in. */
export interface Access {
  url: string;
  apiKey: string | null;
  source: 'POSTHORN_API_KEY' | 'login' | 'none';
}

/** Returns the URL of the service. Reads no key. */
export function serviceOf(
  options: { url?: string },
  sessions = new Sessions(),
  env: NodeJS.ProcessEnv = process.env,
): string {
  const given = options.url ?? (env['POSTHORN_URL'] === '' ? undefined : env['POSTHORN_URL']);
  return tidyUrl(given ?? sessions.current()?.url ?? URL_DEFAULT);
}

export function accessOf(
  options: { url?: string },
  sessions = new Sessions(),
  env: NodeJS.ProcessEnv = process.env,
): Access {
  const url = serviceOf(options, sessions, env);
  const key = env['POSTHORN_API_KEY'];
  if (key !== undefined && key !== '')
    return { url, apiKey: usableKey(key, 'POSTHORN_API_KEY'), source: 'POSTHORN_API_KEY' };
  const session = sessions.find(url);
  return {
    url,
    apiKey: session === null ? null : usableKey(session.api_key, `The key of the login at ${url}`),
    source: session === null ? 'none' : 'login',
  };
}

/** Returns the trimmed key. Throws if the key cannot be sent. The error names the key's source but not the key. */
export function usableKey(text: string, source: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CommandFailure(
    `${source} has a line break, a space or another character that a key cannot have: set it again.`,
    EXIT.unauthenticated,
  );
}

/** Returns a client for the service. Throws if there is no key for the service. */
export function clientOf(options: { url?: string }): PosthornClient {
  const { url, apiKey } = accessOf(options);
  if (apiKey === null)
    throw new CommandFailure(
      `You are not signed in at ${url}. Run \`posthorn login\`, or set POSTHORN_API_KEY.`,
      EXIT.unauthenticated,
    );
  return new PosthornClient({ baseUrl: url, apiKey, userAgent: 'posthorn-cli', retries: 2 });
}

export function tidyUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // Text for error messages. Does not quote a URL with `@`, because it may contain a password.
  const shown = text.includes('@') ? 'The value of --url or POSTHORN_URL' : JSON.stringify(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandFailure(`${shown} is not the URL of a service.`, EXIT.usage);
  if (url.username !== '' || url.password !== '')
    throw new CommandFailure('--url and POSTHORN_URL do not accept a user or a password.', EXIT.usage);
  return text.replace(/\/+$/, '');
}
