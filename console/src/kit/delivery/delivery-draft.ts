import { fromLines, toLines } from '../form/header-lines';
import { stepsOf } from './schedule';

/** Delivery settings of a destination or endpoint, in the format of the API. */
export interface DeliverySettings {
  headers: Readonly<Record<string, string>>;
  retry: { schedule: readonly number[]; max_attempts: number; policy?: string };
  rate_limit: { per_second: number } | null;
  timeout_ms: number;
  concurrency: number | null;
  asymmetric: boolean;
  legacy_signature: Readonly<LegacySignature> | null;
}

/** Legacy signature header, in the format of the API. */
export interface LegacySignature {
  header: string;
  algorithm: string;
  encoding: string;
  content: string;
  format: string;
  timestamp_header: string | null;
  id_header: string | null;
}

/** Delivery settings as the form edits them. Empty text stands for the default. */
export interface DeliveryDraft {
  /** One header per line: `name: value`. */
  headers: string;
  /** Delays before the attempts, separated by commas. */
  delays: string;
  /** Name of the retry policy of an extension. Empty if the destination uses a schedule. */
  policy: string;
  perSecond: string;
  concurrency: string;
  timeoutSeconds: string;
  asymmetric: boolean;
  legacy: LegacyDraft | null;
}

export interface LegacyDraft {
  header: string;
  algorithm: string;
  encoding: string;
  content: string;
  format: string;
  timestampHeader: string;
  idHeader: string;
  /** New key. Empty to keep the stored key. */
  secret: string;
}

/** An error in a field of the form. */
export type DeliveryFault = { field: 'headers'; line: number } | { field: 'delays'; text: string } | null;

export const ATTEMPTS_MAX = 20;
const DELAY_SECONDS_MAX = 604_800;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
/** Default schedule of the API. */
export const DEFAULT_DELAYS = '0, 5s, 5m, 30m, 2h, 5h, 10h, 10h';

export const NEW_LEGACY: LegacyDraft = {
  header: '',
  algorithm: 'sha256',
  encoding: 'hex',
  content: '{body}',
  format: '{signature}',
  timestampHeader: '',
  idHeader: '',
  secret: '',
};

export function deliveryDraftOf(of: DeliverySettings): DeliveryDraft {
  const { legacy_signature: legacy } = of;
  return {
    headers: toLines(of.headers),
    delays: toDelays(stepsOf(of.retry).map(({ waitSeconds }) => waitSeconds)),
    policy: of.retry.policy ?? '',
    perSecond: of.rate_limit === null ? '' : String(of.rate_limit.per_second),
    concurrency: of.concurrency === null ? '' : String(of.concurrency),
    timeoutSeconds: String(of.timeout_ms / 1_000),
    asymmetric: of.asymmetric,
    legacy: legacy && {
      header: legacy.header,
      algorithm: legacy.algorithm,
      encoding: legacy.encoding,
      content: legacy.content,
      format: legacy.format,
      timestampHeader: legacy.timestamp_header ?? '',
      idHeader: legacy.id_header ?? '',
      secret: '',
    },
  };
}

/** Returns the first error of the draft. The service checks all other fields. */
export function deliveryFaultOf({ headers, delays, policy }: DeliveryDraft): DeliveryFault {
  const read = fromLines(headers);
  if (typeof read === 'number') return { field: 'headers', line: read };
  const schedule = policy === '' ? fromDelays(delays) : [];
  return typeof schedule === 'string' ? { field: 'delays', text: schedule } : null;
}

/**
 * Returns the changed settings in the format of the API, with `null` for defaults. Call it only if `deliveryFaultOf`
 * returns null.
 */
export function deliveryChangesOf(draft: DeliveryDraft, before: DeliveryDraft): Record<string, unknown> {
  const all: readonly (readonly [keyof DeliveryDraft, string, unknown])[] = [
    ['headers', 'headers', fromLines(draft.headers)],
    ['delays', 'retry', retryOf(draft)],
    ['policy', 'retry', retryOf(draft)],
    ['perSecond', 'rate_limit', draft.perSecond.trim() === '' ? null : { per_second: Number(draft.perSecond) }],
    ['concurrency', 'concurrency', numberOf(draft.concurrency)],
    ['timeoutSeconds', 'timeout_ms', secondsOf(draft.timeoutSeconds)],
    ['asymmetric', 'asymmetric', draft.asymmetric],
    ['legacy', 'legacy_signature', draft.legacy && legacyOf(draft.legacy)],
  ];
  return Object.fromEntries(
    all
      .filter(([key]) => JSON.stringify(draft[key]) !== JSON.stringify(before[key]))
      .map(([, name, value]) => [name, value]),
  );
}

/** Returns delays in seconds as text, each with the largest unit that divides it: `0, 5s, 5m, 2h`. */
export function toDelays(schedule: readonly number[]): string {
  return schedule.map(toDelay).join(', ');
}

function toDelay(seconds: number): string {
  if (seconds === 0) return '0';
  const [unit = 's', size = 1] =
    Object.entries(UNIT_SECONDS)
      .filter(([, each]) => seconds % each === 0)
      .at(-1) ?? [];
  return `${seconds / size}${unit}`;
}

/** Parses delays separated by commas or spaces. Returns them in seconds, or returns the first part that is invalid. */
export function fromDelays(text: string): number[] | string {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  const schedule: number[] = [];
  for (const part of parts) {
    const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)([smhd])?$/.exec(part.toLowerCase()) ?? [];
    const seconds = Math.round(Number(number) * (UNIT_SECONDS[unit] ?? Number.NaN));
    if (number === undefined || !(seconds <= DELAY_SECONDS_MAX) || schedule.length === ATTEMPTS_MAX) return part;
    schedule.push(seconds);
  }
  return schedule;
}

function retryOf({ delays, policy }: DeliveryDraft): unknown {
  if (policy !== '') return { policy };
  const schedule = fromDelays(delays);
  if (schedule.length === 0 || typeof schedule === 'string') return null;
  return { policy: null, max_attempts: schedule.length, schedule };
}

const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));

function secondsOf(text: string): number | null {
  const seconds = numberOf(text);
  return seconds === null ? null : Math.round(seconds * 1_000);
}

function legacyOf({ timestampHeader, idHeader, secret, ...rest }: LegacyDraft): Record<string, unknown> {
  return {
    ...rest,
    timestamp_header: timestampHeader.trim() || null,
    id_header: idHeader.trim() || null,
    ...(secret !== '' && { secret }),
  };
}
