import type { Draft, Fault } from 'posthorn';

/** Address of one NATS server. */
export interface ServerAddress {
  hostname: string;
  port: number;
  /** True for `tls://`: a server without encryption is rejected. */
  isEncrypted: boolean;
}

/** Validated `config` of a destination. */
export interface NatsSettings {
  servers: ServerAddress[];
  /** Subject template; `{event_type}` is replaced with the type of the event. */
  subject: string;
  /** Name of the stream that must store the messages; null accepts any stream that listens to the subject. */
  stream: string | null;
}

export const NATS_PORT = 4222;
const SERVERS_MAX = 8;
const SUBJECT_CHARACTERS_MAX = 255;
const CREDENTIAL_CHARACTERS_MAX = 1024;
const CONFIG_KEYS = new Set(['servers', 'subject', 'stream']);
const EVENT_TYPE = '{event_type}';

/** Returns the settings and their validation errors. Without errors, the settings are complete. */
export function readSettings({ url, config, credentials }: Pick<Draft, 'url' | 'config' | 'credentials'>): {
  settings: NatsSettings;
  faults: Fault[];
} {
  const faults: Fault[] = [];
  const fault = (path: string, message: string): void => void faults.push({ path, message });
  if (url !== null) fault('url', 'A nats destination has no URL: list its servers in config.servers.');
  for (const key of Object.keys(config)) if (!CONFIG_KEYS.has(key)) fault(`config.${key}`, 'is not known here');
  const servers = readServers(config['servers'], fault);
  const { subject, stream = null } = config;
  if (!isSubjectTemplate(subject)) {
    fault(
      'config.subject',
      `must be a subject of at most ${SUBJECT_CHARACTERS_MAX} characters without wildcards, such as orders.${EVENT_TYPE}`,
    );
  }
  if (stream !== null && !isStreamName(stream)) fault('config.stream', 'must be the name of a stream');
  if (!areCredentials(credentials)) fault('credentials', 'must be {user, password} or {token}');
  return { settings: { servers, subject: String(subject), stream: stream as string | null }, faults };
}

/**
 * Returns the subject for an event. Characters of the event type that would change the structure of the subject become
 * `_`.
 */
export function subjectOf(template: string, eventType: string): string {
  const tokens = eventType.split('.').map((token) => token.replace(/[^\w-]/g, '_') || '_');
  return template.replaceAll(EVENT_TYPE, tokens.join('.')).slice(0, SUBJECT_CHARACTERS_MAX).replace(/\.$/, '');
}

/** Returns whether a value is a subject of dot-separated tokens, optionally with the placeholder for the event type. */
export function isSubjectTemplate(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > SUBJECT_CHARACTERS_MAX) return false;
  // Subjects that begin with `$` belong to the server. Deliveries must not reach the JetStream API.
  return /^(?!\$)[^\s.*>{}]+(\.[^\s.*>{}]+)*$/.test(value.replaceAll(EVENT_TYPE, 'x')) && !hasControls(value);
}

function isStreamName(value: unknown): boolean {
  return typeof value === 'string' && /^[^\s.*>/\\]{1,255}$/.test(value) && !hasControls(value);
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

function readServers(value: unknown, fault: (path: string, message: string) => void): ServerAddress[] {
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  if (texts.length === 0 || texts.length > SERVERS_MAX)
    fault('config.servers', `must be 1 to ${SERVERS_MAX} addresses`);
  return texts.slice(0, SERVERS_MAX).flatMap((text, index) => {
    const address = addressOf(text);
    if (address === null)
      fault(
        Array.isArray(value) ? `config.servers.${index}` : 'config.servers',
        'must be nats://host:port or tls://host:port',
      );
    return address ?? [];
  });
}

/**
 * Parses the address as an https URL, because URL parsers normalize host names and addresses only for known schemes.
 */
function addressOf(text: unknown): ServerAddress | null {
  const [, scheme, rest] =
    (typeof text === 'string' && text.length <= 300 ? /^(nats|tls):\/\/([^/?#@\\\s]+)\/?$/i.exec(text) : null) ?? [];
  if (scheme === undefined || rest === undefined || !URL.canParse(`https://${rest}`)) return null;
  const { hostname, port } = new URL(`https://${rest}`);
  const isHttpsPort = port === '' && rest.endsWith(':443');
  return {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: isHttpsPort ? 443 : Number(port || NATS_PORT),
    isEncrypted: scheme.toLowerCase() === 'tls',
  };
}

function areCredentials(credentials: Record<string, string> | null): boolean {
  if (credentials === null) return true;
  const keys = Object.keys(credentials).sort().join();
  const texts = Object.values(credentials);
  return (
    (keys === 'token' || keys === 'password,user') &&
    texts.every((text) => text !== '' && text.length <= CREDENTIAL_CHARACTERS_MAX)
  );
}
