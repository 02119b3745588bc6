import { isRangeTime, rangeTime } from '../kit/time/range';

export const EMAIL_STATUSES = [
  'scheduled',
  'sending',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'dlq',
  'canceled',
] as const;
export const ORIGINS = ['bounce', 'complaint', 'manual', 'unsubscribe'] as const;

/** Filters of the email list, as in the page's URL. */
export interface EmailFilters {
  status?: (typeof EMAIL_STATUSES)[number];
  /** Start of the time range: an absolute time, or a time relative to now. */
  since?: string;
  until?: string;
  /** Tag in the form `name` or `name:value`. */
  tag?: string;
  recipient?: string;
}

export const MESSAGE_STATES = ['received', 'processed', 'quarantined'] as const;

/** Filters of the message list of an alias. */
export interface MessageFilters {
  state?: (typeof MESSAGE_STATES)[number];
  from?: string;
  since?: string;
}

/** Filters of the suppression list. */
export interface SuppressionFilters {
  origin?: (typeof ORIGINS)[number];
  email?: string;
}

export const SUBSCRIPTIONS = ['opt_out', 'opt_in'] as const;

/** Filter of a topic's subscriptions. */
export interface TopicFilters {
  subscription?: (typeof SUBSCRIPTIONS)[number];
}

type Search = Readonly<Record<string, unknown>>;

const TAG = /^[\w-]{1,256}(?::[\w-]{1,256})?$/;
const words = (given: unknown): string => (typeof given === 'string' ? given.trim() : '');

/** Reads the filters from the query parameters of the page's URL. Ignores invalid values. */
export function readEmailFilters(search: Search): EmailFilters {
  const status = EMAIL_STATUSES.find((each) => each === search['status']);
  const { since, until, tag } = search;
  const recipient = words(search['recipient']);
  return {
    ...(status !== undefined && { status }),
    ...(isRangeTime(since) && { since }),
    ...(isRangeTime(until) && { until }),
    ...(typeof tag === 'string' && TAG.test(tag) && { tag }),
    ...(recipient !== '' && { recipient }),
  };
}

/** Reads the filters of an alias's message list from the query parameters of the page's URL. */
export function readMessageFilters(search: Search): MessageFilters {
  const state = MESSAGE_STATES.find((each) => each === search['state']);
  const { since } = search;
  const from = words(search['from']);
  return { ...(state !== undefined && { state }), ...(from !== '' && { from }), ...(isRangeTime(since) && { since }) };
}

/** Reads the filters of the suppression list from the query parameters of the page's URL. */
export function readSuppressionFilters(search: Search): SuppressionFilters {
  const origin = ORIGINS.find((each) => each === search['origin']);
  const email = words(search['email']);
  return { ...(origin !== undefined && { origin }), ...(email !== '' && { email }) };
}

/** Returns the message filters for the API, with relative times resolved at `nowMs`. */
export function messageQuery({ since, ...rest }: MessageFilters, nowMs: number): MessageFilters {
  return { ...rest, ...(since !== undefined && { since: rangeTime(since, nowMs) }) };
}

/** Returns the filters for the API, with relative times resolved at `nowMs`. */
export function emailQuery({ since, until, ...rest }: EmailFilters, nowMs: number): EmailFilters {
  return {
    ...rest,
    ...(since !== undefined && { since: rangeTime(since, nowMs) }),
    ...(until !== undefined && { until: rangeTime(until, nowMs) }),
  };
}

/** Reads the filter of a topic's subscriptions from the query parameters of the page's URL. */
export function readTopicFilters(search: Search): TopicFilters {
  const subscription = SUBSCRIPTIONS.find((each) => each === search['subscription']);
  return subscription === undefined ? {} : { subscription };
}
