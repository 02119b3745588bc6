import { URL_LENGTH_MAX, type UrlVerdict } from '#engine/egress-policy.js';
import type { Fault } from '#kernel/errors.js';
import type { Draft, Target } from '#modules/destinations/contract.js';

/** Settings of a queue, including its address and credentials. Created only from valid settings. */
export interface QueueSettings {
  queueUrl: string;
  region: string;
  /** Origin that requests are sent to: `config.endpoint`, or the origin of the queue URL. */
  endpoint: string;
  /** Whether the queue is a FIFO queue. The name of an SQS FIFO queue ends in `.fifo`. */
  isFifo: boolean;
  /** Group of every message in a FIFO queue. Null for one group per event type. */
  messageGroupId: string | null;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
}

const CONFIG_KEYS = ['queueUrl', 'region', 'endpoint', 'messageGroupId'];
/**
 * Pattern for a region. Rejects `fips-` and `-fips`, which the SDK maps to another endpoint. Users who need a FIPS
 * endpoint set `endpoint`.
 */
const REGION = /^(?!fips-)(?!.*-fips$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** The SQS documentation requires 1 to 128 letters, digits and punctuation characters. */
const GROUP_ID = /^[!-~]{1,128}$/;

/** Allowed form of each field of `credentials`. Error messages never quote the values. */
const CREDENTIALS: Readonly<Record<string, { form: RegExp; message: string; isOptional?: true }>> = {
  accessKeyId: { form: /^[\w.-]{1,128}$/, message: 'must be 1 to 128 letters, digits and _.-' },
  secretAccessKey: { form: /^[!-~]{1,256}$/, message: 'must be 1 to 256 visible ASCII characters' },
  sessionToken: { form: /^[!-~]{1,8192}$/, message: 'must be 1 to 8192 visible ASCII characters', isOptional: true },
};

/** Returns the faults of a destination's settings. `admit` decides whether Posthorn may call a URL. */
export function settingsFaults(
  { url, config, credentials }: Pick<Draft, 'url' | 'config' | 'credentials'>,
  admit: (url: string) => UrlVerdict,
): Fault[] {
  const faults: Fault[] = Object.keys(config)
    .filter((key) => !CONFIG_KEYS.includes(key))
    .map((key) => ({ path: `config.${key}`, message: 'is not known here' }));
  const say = (path: string, message: string | null): void => void (message !== null && faults.push({ path, message }));
  const { queueUrl, region, endpoint, messageGroupId } = config;
  const called = isLeftOut(endpoint) ? 'queueUrl' : 'endpoint';
  say('config.queueUrl', queueUrlFault(queueUrl));
  say(
    'config.region',
    region === undefined ? 'is required' : matches(REGION, region) ? null : 'must be a region, like eu-west-1',
  );
  say('config.messageGroupId', isLeftOut(messageGroupId) ? null : groupIdFault(messageGroupId, queueUrl));
  if (called === 'endpoint') say('config.endpoint', urlFault(endpoint));
  const verdict = urlFault(config[called]) === null ? admit(text(config[called])) : null;
  if (verdict?.ok === false) faults.push({ path: `config.${called}`, message: verdict.reason, check: verdict.check });
  say('url', url === null ? null : 'An sqs destination has no URL: the URL of the queue is config.queueUrl.');
  return [...faults, ...credentialFaults(credentials)];
}

/** Returns the settings of the queue, or null if they have faults. Stored settings may never have been validated. */
export function queueSettings({ config, credentials }: Pick<Target, 'config' | 'credentials'>): QueueSettings | null {
  // Ignores the URL, which no message uses.
  const faults = settingsFaults({ url: null, config, credentials }, (url) => ({ ok: true, url: new URL(url) }));
  if (faults.length > 0 || credentials === null) return null;
  const { queueUrl, region, endpoint, messageGroupId } = config as Record<string, string | null | undefined>;
  const { accessKeyId = '', secretAccessKey = '', sessionToken } = credentials;
  const queue = queueUrl ?? '';
  return {
    queueUrl: queue,
    region: region ?? '',
    // The serialized URL omits the default port, so that the signed host equals the host that is sent.
    endpoint: endpoint ? new URL(endpoint).href : new URL(queue).origin,
    isFifo: isFifo(queue),
    messageGroupId: messageGroupId ?? null,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
  };
}

function credentialFaults(credentials: Draft['credentials']): Fault[] {
  if (credentials === null)
    return [{ path: 'credentials', message: 'is required, with accessKeyId and secretAccessKey' }];
  const unknown = Object.keys(credentials).filter((key) => !Object.hasOwn(CREDENTIALS, key));
  const faults = unknown.map((key) => ({ path: `credentials.${key}`, message: 'is not known here' }));
  for (const [key, { form, message, isOptional }] of Object.entries(CREDENTIALS)) {
    const value = credentials[key];
    if (value === undefined ? !isOptional : !form.test(value))
      faults.push({ path: `credentials.${key}`, message: value === undefined ? 'is required' : message });
  }
  return faults;
}

function queueUrlFault(url: unknown): string | null {
  if (url === undefined) return 'is required';
  const fault = urlFault(url);
  return fault === null && new URL(text(url)).pathname === '/' ? 'must end in the name of the queue' : fault;
}

function urlFault(url: unknown): string | null {
  if (typeof url !== 'string' || url.length > URL_LENGTH_MAX || !URL.canParse(url))
    return `must be an absolute URL of at most ${URL_LENGTH_MAX} characters`;
  const { protocol, search, hash, username, password } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an https URL';
  return search + hash + username + password === '' ? null : 'must not have a query, a fragment, a user or a password';
}

function groupIdFault(groupId: unknown, queueUrl: unknown): string | null {
  if (!matches(GROUP_ID, groupId)) return 'must be 1 to 128 ASCII letters, digits and punctuation characters';
  return isFifo(text(queueUrl)) ? null : 'is for FIFO queues, whose names end in .fifo';
}

const isFifo = (queueUrl: string): boolean => queueUrl.endsWith('.fifo');
const isLeftOut = (value: unknown): boolean => value === undefined || value === null;
const matches = (form: RegExp, value: unknown): boolean => typeof value === 'string' && form.test(value);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
