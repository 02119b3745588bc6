import type { AwsCredentials } from './aws-credentials.js';
import { isHttpUrl, REGION } from './blob-store.js';
import { authorityFault, ConfigError, type ExtensionChoice, parseExtensionChoice } from './config-values.js';

/** Whether to use STARTTLS (RFC 3207) on connections to a relay that start in plain text. */
export type StartTls = 'required' | 'opportunistic' | 'off';

export type EmailTransport = { kind: 'capture' } | EmailRelay | SesAccount | DirectMail | ExtensionChoice;

/** Sends to the mail servers of each recipient's domain. */
export interface DirectMail {
  kind: 'direct';
  /** Port of all mail servers: 25, except in tests. */
  port: number;
}

/** Amazon SES, through its API (v2). */
export interface SesAccount {
  kind: 'ses';
  region: string;
  /** SES configuration set, which defines notifications, suppression and IP pools. Null for none. */
  configurationSet: string | null;
  /** URL of a server with a compatible API. Null for Amazon's server. */
  endpoint: string | null;
  credentials: AwsCredentials;
}

export interface EmailRelay {
  kind: 'smtp';
  host: string;
  port: number;
  /** Whether the connection uses TLS from the first byte (RFC 8314). */
  isImplicitTls: boolean;
  startTls: StartTls;
  /** Credentials of the server, secret. Null if the server accepts mail without a login. */
  login: { user: string; password: string } | null;
}

const EXPECTED =
  '`capture:`, `smtp://user:password@host:port`, `smtps://user:password@host:port`, `ses:REGION`, `direct:` or `extension:NAME`';
const START_TLS = ['required', 'opportunistic', 'off'] as const;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/** Parses EMAIL_TRANSPORT. Throws `ConfigError` without any part of a URL, because a URL may contain a password. */
export function parseEmailTransport(text: string | null, credentials: AwsCredentials | null): EmailTransport {
  if (text === null || text === 'capture:' || text === 'capture') return { kind: 'capture' };
  if (text.startsWith('direct:')) return readDirect(text.slice('direct:'.length));
  if (text.startsWith('ses:')) return readSes(text.slice('ses:'.length), credentials);
  const extension = parseExtensionChoice(text);
  if (extension !== null) return extension;
  const fault = authorityFault(text);
  if (fault !== null) throw new ConfigError(`EMAIL_TRANSPORT ${fault}`);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol))
    throw new ConfigError(`EMAIL_TRANSPORT must be ${EXPECTED}.`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === '') throw new ConfigError(`EMAIL_TRANSPORT has no host: it must be ${EXPECTED}.`);
  if (!['', '/'].includes(url.pathname) || url.hash !== '')
    throw new ConfigError(
      'EMAIL_TRANSPORT allows no path and no fragment; percent-encode "/", "#" and "?" in a password.',
    );
  const isImplicitTls = url.protocol === 'smtps:';
  const startTls = readStartTls(url, isImplicitTls);
  const login = readLogin(url);
  if (login !== null && !isImplicitTls && startTls !== 'required' && !LOOPBACK.test(host)) {
    throw new ConfigError(
      `EMAIL_TRANSPORT has a password, which tls=${startTls} could send in plain text: use tls=required or smtps://.`,
    );
  }
  return {
    kind: 'smtp',
    host,
    port: url.port === '' ? (isImplicitTls ? 465 : 587) : Number(url.port),
    isImplicitTls,
    startTls,
    login,
  };
}

function readDirect(text: string): DirectMail {
  const [, port = '25'] = /^(?:\?port=(\d{1,5}))?$/.exec(text) ?? [, ''];
  if (!(Number(port) >= 1 && Number(port) <= 65_535))
    throw new ConfigError('EMAIL_TRANSPORT=direct: accepts one parameter, port (default 25).');
  return { kind: 'direct', port: Number(port) };
}

function readSes(text: string, credentials: AwsCredentials | null): SesAccount {
  const [, region = '', query = ''] = /^([^?]*)(?:\?(.*))?$/.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((name) => name !== 'configuration_set' && name !== 'endpoint');
  if (!REGION.test(region)) throw new ConfigError('EMAIL_TRANSPORT=ses: requires a region, such as ses:eu-west-1.');
  if (unknown !== undefined)
    throw new ConfigError('EMAIL_TRANSPORT=ses:REGION accepts the parameters configuration_set and endpoint.');
  const [configurationSet, endpoint] = [parameters.get('configuration_set'), parameters.get('endpoint')];
  if (configurationSet !== null && !/^[A-Za-z0-9_-]{1,64}$/.test(configurationSet))
    throw new ConfigError('The configuration_set of EMAIL_TRANSPORT must have 1 to 64 letters, digits, "_" and "-".');
  if (endpoint !== null && !isHttpUrl(endpoint))
    throw new ConfigError('The endpoint of EMAIL_TRANSPORT must be an http or https URL without path and credentials.');
  if (credentials === null)
    throw new ConfigError('EMAIL_TRANSPORT=ses: needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  return { kind: 'ses', region, configurationSet, endpoint, credentials };
}

function readStartTls(url: URL, isImplicitTls: boolean): StartTls {
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'tls');
  if (unknown !== undefined)
    throw new ConfigError('EMAIL_TRANSPORT accepts one parameter: tls=required, tls=opportunistic or tls=off.');
  const value = url.searchParams.get('tls');
  if (value === null) return 'required';
  const found = START_TLS.find((each) => each === value);
  if (found === undefined)
    throw new ConfigError('The parameter tls of EMAIL_TRANSPORT must be required, opportunistic or off.');
  if (isImplicitTls && found !== 'required')
    throw new ConfigError(`EMAIL_TRANSPORT: smtps:// is always encrypted, so use tls=${found} only with smtp://.`);
  return found;
}

function readLogin(url: URL): EmailRelay['login'] {
  if (url.username === '' && url.password === '') return null;
  if (url.username === '' || url.password === '')
    throw new ConfigError('EMAIL_TRANSPORT needs both a user and a password, or neither.');
  return { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
}
