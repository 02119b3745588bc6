/** Syntax of event type patterns: the characters of event types, and an optional `.*` at the end. */
const PATTERN = /^[A-Za-z0-9._:/-]+(?:\.\*)?$/;
const CHANNEL = /^[A-Za-z0-9._:/-]+$/;
const LENGTH_MAX = 256;
const WILDCARD = '.*';

/** Returns the fault of a pattern, or null. A pattern is an exact type, or `prefix.*` for all types below `prefix.`. */
export function patternFault(pattern: string): string | null {
  if (pattern.length > LENGTH_MAX) return `has at most ${LENGTH_MAX} characters`;
  if (!PATTERN.test(pattern)) return 'must be an event type such as invoice.paid, or a prefix such as invoice.*';
  return null;
}

export function channelFault(channel: string): string | null {
  if (channel.length > LENGTH_MAX) return `has at most ${LENGTH_MAX} characters`;
  return CHANNEL.test(channel) ? null : 'consists of letters, digits and . _ : / -';
}

export interface Subscription {
  matchesType(eventType: string): boolean;
  /**
   * Returns whether the subscription matches an event with these channels. A subscription without channels matches all.
   */
  matchesChannels(channels: readonly string[]): boolean;
}

/** Returns every pattern that matches the type: the type itself, and a wildcard for each of its prefixes. */
export function patternsOf(type: string): string[] {
  return [type, ...[...type.matchAll(/\./g)].map(({ index }) => `${type.slice(0, index)}${WILDCARD}`)];
}

/** Compiles a subscription. `patterns` and `channels` must be valid. An empty list of patterns matches every type. */
export function subscription(patterns: readonly string[], channels: readonly string[]): Subscription {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith(WILDCARD)));
  const prefixes = patterns.filter((pattern) => pattern.endsWith(WILDCARD)).map((pattern) => pattern.slice(0, -1));
  const subscribed = new Set(channels);
  return {
    matchesType: (type) =>
      patterns.length === 0 || exact.has(type) || prefixes.some((prefix) => type.startsWith(prefix)),
    matchesChannels: (named) => subscribed.size === 0 || named.some((channel) => subscribed.has(channel)),
  };
}
