import { fromLines } from '../kit/form/header-lines';
import { type JsonFault, readObject, writeJson } from '../kit/json/read-json';

/** Destination types that the service contains. Extensions may add more. */
export const TYPES = ['https', 'mirror', 'sqs', 'pull'] as const;

/** Fields of a destination that depend on its type, as the form edits them. Empty text stands for no value. */
export interface TargetDraft {
  url: string;
  queueUrl: string;
  region: string;
  endpoint: string;
  messageGroupId: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  /** Settings of an extension's type as JSON text. */
  config: string;
  /** Credentials of an extension's type, one per line. */
  credentials: string;
  /** Consecutive failures that open the circuit breaker. */
  threshold: string;
  forward: { method: boolean; path: boolean; query: boolean };
}

export const NEW_TARGET: TargetDraft = {
  url: '',
  queueUrl: '',
  region: '',
  endpoint: '',
  messageGroupId: '',
  accessKeyId: '',
  secretAccessKey: '',
  sessionToken: '',
  config: '',
  credentials: '',
  threshold: '',
  forward: { method: false, path: false, query: true },
};

/** The type-dependent part of a destination, in the format of the API. */
interface Target {
  type: string;
  url: string | null;
  config: Readonly<Record<string, unknown>>;
  forward: TargetDraft['forward'] | null;
}

const QUEUE_FIELDS = ['queueUrl', 'region', 'endpoint', 'messageGroupId'] as const;
const QUEUE_CREDENTIALS = ['accessKeyId', 'secretAccessKey', 'sessionToken'] as const;

export function isOtherType(type: string): boolean {
  return !(TYPES as readonly string[]).includes(type);
}

/** Returns the draft of a stored destination. Credentials are empty, because the service never returns them. */
export function targetDraftOf({ type, url, config, forward }: Target): TargetDraft {
  const { circuit_breaker: breaker, ...own } = config;
  const threshold = (breaker as { failure_threshold?: unknown } | null | undefined)?.failure_threshold;
  return {
    ...NEW_TARGET,
    url: url ?? '',
    threshold: typeof threshold === 'number' ? String(threshold) : '',
    ...(forward !== null && { forward: { ...forward } }),
    ...(type === 'sqs' && Object.fromEntries(QUEUE_FIELDS.map((name) => [name, textOf(own[name])]))),
    ...(isOtherType(type) && { config: Object.keys(own).length === 0 ? '' : writeJson(own) }),
  };
}

/** Returns the first error of the fields for an extension's type. The service checks all other fields. */
export function targetFaultOf(
  type: string,
  { config, credentials }: TargetDraft,
  complaint: string,
): { config: JsonFault | null; credentialsLine: number | null } {
  if (!isOtherType(type)) return { config: null, credentialsLine: null };
  const read = fromLines(credentials);
  return { config: readObject(config, complaint).fault, credentialsLine: typeof read === 'number' ? read : null };
}

/** Returns the body fields for a new destination. Omits fields that have no value. */
export function newTargetOf(type: string, draft: TargetDraft): Record<string, unknown> {
  const config = configOf(type, draft);
  const credentials = credentialsOf(type, draft);
  return {
    ...(hasUrl(type, draft) && { url: draft.url.trim() }),
    ...(Object.keys(config).length > 0 && { config }),
    ...(credentials !== null && { credentials }),
  };
}

/** Returns the changed body fields. Credentials are sent only if some were typed. */
export function targetChangesOf(type: string, draft: TargetDraft, before: TargetDraft): Record<string, unknown> {
  const [config, configBefore] = [configOf(type, draft), configOf(type, before)];
  const credentials = credentialsOf(type, draft);
  return {
    ...(draft.url.trim() !== before.url && { url: draft.url.trim() }),
    ...(JSON.stringify(config) !== JSON.stringify(configBefore) && { config }),
    ...(JSON.stringify(draft.forward) !== JSON.stringify(before.forward) && { forward: draft.forward }),
    ...(credentials !== null && { credentials }),
  };
}

const hasUrl = (type: string, { url }: TargetDraft): boolean =>
  type === 'https' || type === 'mirror' || (isOtherType(type) && url.trim() !== '');

function configOf(type: string, draft: TargetDraft): Record<string, unknown> {
  const own =
    type === 'sqs'
      ? filledOf(draft, QUEUE_FIELDS)
      : isOtherType(type)
        ? (readObject(draft.config, '').value ?? {})
        : {};
  return draft.threshold === '' ? own : { ...own, circuit_breaker: { failure_threshold: Number(draft.threshold) } };
}

function credentialsOf(type: string, draft: TargetDraft): Record<string, string> | null {
  const read =
    type === 'sqs' ? filledOf(draft, QUEUE_CREDENTIALS) : isOtherType(type) ? fromLines(draft.credentials) : {};
  return typeof read === 'number' || Object.keys(read).length === 0 ? null : read;
}

/** Returns the named fields that are not empty. */
function filledOf<K extends keyof TargetDraft>(draft: TargetDraft, names: readonly K[]): Record<string, string> {
  const entries = names.map((name) => [name, textOf(draft[name]).trim()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
