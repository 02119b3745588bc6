import path from 'node:path';
import type { Config } from '#kernel/config/config.js';
import { withoutCredentials } from '#kernel/config/config-values.js';

interface Failure {
  code: string;
  message: string;
  syscall: string;
  hostname: string;
  port: number | null;
  path: string;
  /** Severity of the error. Set only for errors of the PostgreSQL server. */
  severity: string;
}

/** Parts of DATABASE_URL that messages may show, without the password. */
interface Database {
  place: string;
  host: string;
  port: number;
  user: string;
  name: string;
}

type Sentence = (failure: Failure, database: Database) => string;

const LINE_CHARACTERS_MAX = 600;
const POSTGRES_PORT = 5432;

const silent: Sentence = ({ code, message }, { place }) =>
  `PostgreSQL at ${place} does not answer (${code || message}): check DATABASE_URL, the network and the firewalls.`;
const untrusted: Sentence = ({ code }, { place }) =>
  `The certificate of PostgreSQL at ${place} is not trusted (${code}): add the file of its certificate authority to DATABASE_URL with sslrootcert=FILE.`;

const REFUSALS: Readonly<Record<string, Sentence>> = {
  '28P01': (_, { place, user }) =>
    `PostgreSQL at ${place} refuses the password of the user ${user}: correct it in DATABASE_URL.`,
  '28000': ({ message }, { place, user }) =>
    `PostgreSQL at ${place} rejects the user ${user} (${message}): correct DATABASE_URL, or the server's pg_hba.conf.`,
  '3D000': (_, { place, name }) =>
    `PostgreSQL at ${place} has no database ${name}: create it, or correct DATABASE_URL.`,
  '42501': ({ message }, { place, user, name }) =>
    `The user ${user} has no permission to set up the database ${name} at ${place} (${message}): make it the owner of the database in DATABASE_URL.`,
  '53300': ({ message }, { place }) =>
    `PostgreSQL at ${place} has no connection left (${message}): raise its max_connections, or lower DATABASE_POOL_SIZE.`,
  '25006': (_, { place }) =>
    `PostgreSQL at ${place} is read-only, as a standby server is: set DATABASE_URL to the primary.`,
  '57P01': ({ message }, { place }) =>
    `PostgreSQL at ${place} is stopping (${message}): start Posthorn again when it is back.`,
  '57P03': ({ message }, { place }) =>
    `PostgreSQL at ${place} is not ready (${message}): start Posthorn again when it is.`,
};

/** Messages by error code, for connections that failed or whose certificate does not match. */
const CONNECTION_FAULTS: Readonly<Record<string, Sentence>> = {
  ECONNREFUSED: (_, { place }) => `Nothing listens at ${place}: start PostgreSQL there, or correct DATABASE_URL.`,
  ENOTFOUND: ({ code }, { host }) =>
    `The host ${host} in DATABASE_URL is not known (${code}): correct DATABASE_URL, or the name server.`,
  EAI_AGAIN: ({ code }, { host }) =>
    `The host ${host} in DATABASE_URL could not be looked up (${code}): correct DATABASE_URL, or the name server.`,
  ETIMEDOUT: silent,
  EHOSTUNREACH: silent,
  ENETUNREACH: silent,
  ECONNRESET: silent,
  EPIPE: silent,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: (_, { place }) => `The certificate of PostgreSQL at ${place} has expired: renew it there.`,
  ERR_TLS_CERT_ALTNAME_INVALID: (_, { place, host }) =>
    `The certificate of PostgreSQL at ${place} is not one for ${host}: use the name of the certificate in DATABASE_URL.`,
};

const DRIVER_MESSAGES: readonly (readonly [RegExp, Sentence])[] = [
  [
    /does not support SSL/,
    (_, { place }) =>
      `PostgreSQL at ${place} does not speak TLS: take sslmode out of DATABASE_URL, or turn ssl on there.`,
  ],
  [
    /client password must be/,
    (_, { place }) => `PostgreSQL at ${place} requires a password, and DATABASE_URL has none: add it.`,
  ],
  [/^(timeout e|Connection terminated|The connection to PostgreSQL|PostgreSQL did not|Query read timeout)/, silent],
];

const LISTEN_FAULTS: Readonly<Record<string, (variable: string, port: number, host: string) => string>> = {
  EADDRINUSE: (variable, port, host) =>
    `Port ${port} of ${host} is taken by another process: stop that one, or set another ${variable}.`,
  EACCES: (variable, port) =>
    `Port ${port} needs privileges that this user does not have: set a ${variable} from 1024 on.`,
  EADDRNOTAVAIL: (variable, _, host) =>
    `${host} is no address of this machine: correct ${isOfSubmission(variable) ? 'SUBMISSION_HOST' : 'HOST'}.`,
};

const FILE_FAULTS = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ENOENT', 'ENOSPC', 'EDQUOT', 'EEXIST']);

/** Returns a line that says what to change, without secrets. `config` is null if the environment is invalid. */
export function startFailure(error: unknown, config: Config | null): string {
  const failure = readFailure(error);
  const sentence =
    config === null
      ? null
      : (listenFault(failure, config) ?? fileFault(failure, config) ?? databaseFault(failure, config));
  return withoutSecrets(oneLine(sentence ?? failure.message), config);
}

function listenFault(
  { code, syscall, hostname, port }: Failure,
  { host, port: apiPort, metricsPort, dnsPort, smtpPort, submissionPort, submissionsPort, submissionHost }: Config,
): string | null {
  if (syscall === 'getaddrinfo' && hostname === host) return `${host} is not known (${code}): correct HOST.`;
  if (syscall === 'getaddrinfo' && hostname === submissionHost)
    return `${submissionHost} is not known (${code}): correct SUBMISSION_HOST.`;
  if (syscall !== 'listen' && syscall !== 'bind') return null;
  const variables = new Map([
    [submissionPort, 'SUBMISSION_PORT'],
    [submissionsPort, 'SUBMISSIONS_PORT'],
    [smtpPort, 'SMTP_PORT'],
    [dnsPort, 'DNS_PORT'],
    [metricsPort, 'METRICS_PORT'],
  ]);
  const variable = port === null ? 'PORT' : (variables.get(port) ?? 'PORT');
  return LISTEN_FAULTS[code]?.(variable, port ?? apiPort, isOfSubmission(variable) ? submissionHost : host) ?? null;
}

function isOfSubmission(variable: string): boolean {
  return variable.startsWith('SUBMISSION');
}

function fileFault({ code, syscall, path: file }: Failure, { configuredDatabaseUrl, dataDir }: Config): string | null {
  if (syscall === '' || file === '' || !FILE_FAULTS.has(code)) return null;
  const directory = path.resolve(dataDir);
  if (`${file}/`.startsWith(`${directory}/`) || `${directory}/`.startsWith(`${file}/`)) {
    return `DATA_DIR ${directory} can't be written to (${code} at ${file}): make it writable for this user, or set another one.`;
  }
  const isNamed = configuredDatabaseUrl !== null && decoded(configuredDatabaseUrl).includes(file);
  return isNamed
    ? `DATABASE_URL names the file ${file}, which can't be read (${code}): correct the path, or make it readable.`
    : null;
}

function databaseFault(failure: Failure, config: Config): string | null {
  const database = databaseOf(config);
  if (failure.severity !== '' && REFUSALS[failure.code]) return REFUSALS[failure.code]?.(failure, database) ?? null;
  const driverSays = DRIVER_MESSAGES.find(([pattern]) => pattern.test(failure.message))?.[1];
  if (driverSays) return driverSays(failure, database);
  // Whether the error may come from another server, such as one that an extension connects to.
  const isElsewhere =
    (failure.port !== null && failure.port !== database.port) ||
    (failure.hostname !== '' && failure.hostname !== database.host);
  return isElsewhere ? null : (CONNECTION_FAULTS[failure.code]?.(failure, database) ?? null);
}

function databaseOf({ configuredDatabaseUrl: text }: Config): Database {
  if (text === null || !URL.canParse(text))
    return { place: 'DATA_DIR', host: '127.0.0.1', port: NaN, user: 'postgres', name: 'posthorn' };
  const url = new URL(text);
  const host = (url.hostname || url.searchParams.get('host') || 'localhost').replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port || url.searchParams.get('port') || POSTGRES_PORT);
  const user = decoded(url.username || url.searchParams.get('user') || '');
  return { place: `${url.hostname || host}:${port}`, host, port, user, name: decoded(url.pathname.slice(1)) || user };
}

/** Returns the first error if several addresses were tried, and the inner error if TypeORM wrapped it. */
function readFailure(error: unknown): Failure {
  const inner =
    (error as { driverError?: unknown; errors?: unknown[] } | null)?.driverError ??
    (error as { errors?: unknown[] } | null)?.errors?.[0] ??
    error;
  if (!(inner instanceof Error))
    return { code: '', message: String(inner), syscall: '', hostname: '', port: null, path: '', severity: '' };
  const fields = inner as Error & Partial<Record<keyof Failure, unknown>>;
  const text = (name: keyof Failure): string => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    code: text('code'),
    message: inner.message || text('code') || inner.name,
    syscall: text('syscall'),
    hostname: text('hostname'),
    path: text('path'),
    severity: text('severity'),
    port: typeof fields.port === 'number' ? fields.port : null,
  };
}

function oneLine(message: string): string {
  const line = message.trim().split('\n', 1)[0] ?? '';
  return line.length > LINE_CHARACTERS_MAX ? `${line.slice(0, LINE_CHARACTERS_MAX)}…` : line;
}

/** Removes the credentials in URLs, and the configured secrets in their original spelling, from the line. */
function withoutSecrets(line: string, config: Config | null): string {
  return secretsOf(config).reduce((text, secret) => text.replaceAll(secret, '[secret]'), withoutCredentials(line));
}

function secretsOf(config: Config | null): string[] {
  if (config === null) return [];
  const {
    configuredDatabaseUrl,
    configuredDatabaseDirectUrl,
    redisUrl,
    configuredMasterKey,
    bootstrapApiKey,
    metricsToken,
    operatorKey,
    oidc,
    emailTransport,
    blobStore,
  } = config;
  const passwords = [configuredDatabaseUrl, configuredDatabaseDirectUrl, redisUrl].flatMap((text) => {
    if (text === null || !URL.canParse(text)) return [];
    const { password, searchParams } = new URL(text);
    return [password, decoded(password), searchParams.get('password') ?? '', searchParams.get('sslpassword') ?? ''];
  });
  const keys =
    configuredMasterKey === null ? [] : [configuredMasterKey.toString('base64'), configuredMasterKey.toString('hex')];
  const relay = emailTransport.kind === 'smtp' ? [emailTransport.login?.password] : [];
  const amazon = [emailTransport, blobStore].flatMap((place) =>
    'credentials' in place ? [place.credentials.secretAccessKey, place.credentials.sessionToken] : [],
  );
  // Omits secrets of less than six characters: they may be ordinary words, which must stay readable in the message.
  return [
    ...passwords,
    ...keys,
    bootstrapApiKey,
    metricsToken,
    operatorKey,
    oidc?.clientSecret,
    ...relay,
    ...amazon,
  ].filter((secret): secret is string => (secret ?? '').length >= 6);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
