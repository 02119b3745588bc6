/** Letters, digits and the characters of event types; `.*` at the end only. */
const PATTERN = /^[A-Za-z0-9._:/-]+(?:\.\*)?$/;
const CHANNEL = /^[A-Za-z0-9._:/-]+$/;
const LENGTH_MAX = 256;
const WILDCARD = '.*';

/** Why a text is no event type to subscribe to, or null: an exact one, or `prefix.*` for everything below `prefix.`. */
export function patternFault(pattern: string): string | null {
  if (pattern.length > LENGTH_MAX) return `has at most ${LENGTH_MAX} characters`;
  if (!PATTERN.test(pattern)) return 'must be an event type such as invoice.paid, or a prefix such as invoice.*';
  return null;
}

/** Why a text is no channel, or null. */
export function channelFault(channel: string): string | null {
  if (channel.length > LENGTH_MAX) return `has at most ${LENGTH_MAX} characters`;
  return CHANNEL.test(channel) ? null : 'consists of letters, digits and . _ : / -';
}

/** What an endpoint subscribes to. */
export interface Subscription {
  matchesType(eventType: string): boolean;
  /** Without channels of its own an endpoint hears everything; with some, what names one of them. */
  matchesChannels(channels: readonly string[]): boolean;
}

/** Every pattern that is about a type: its name, and each prefix of it that a wildcard may stand behind. */
export function patternsOf(type: string): string[] {
  return [type, ...[...type.matchAll(/\./g)].map(({ index }) => `${type.slice(0, index)}${WILDCARD}`)];
}

/** Compiles patterns and channels without faults. No pattern stands for every type. */
export function subscription(patterns: readonly string[], channels: readonly string[]): Subscription {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith(WILDCARD)));
  const prefixes = patterns.filter((pattern) => pattern.endsWith(WILDCARD)).map((pattern) => pattern.slice(0, -1));
  const heard = new Set(channels);
  return {
    matchesType: (type) =>
      patterns.length === 0 || exact.has(type) || prefixes.some((prefix) => type.startsWith(prefix)),
    matchesChannels: (named) => heard.size === 0 || named.some((channel) => heard.has(channel)),
  };
}
