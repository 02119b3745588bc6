import { type HeadField, valuesOf } from './message-head.js';

/**
 * Maximum number of Received fields. RFC 5321, section 6.3: a large number, normally at least 100, indicates a loop.
 */
const HOPS_MAX = 100;
/** Maximum number of times that a message may pass through this host. A higher number indicates a forwarding loop. */
const OWN_HOPS_MAX = 4;

/** Returns whether the message passed through too many hosts, or through this host too often. */
export function isLooping(fields: readonly HeadField[], ownName: string): boolean {
  const hops = valuesOf(fields, 'received');
  if (hops.length > HOPS_MAX) return true;
  if (hops.length <= OWN_HOPS_MAX) return false;
  const own = new RegExp(`\\bby\\s+${ownName.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\.?(?=[\\s;(]|$)`, 'i');
  return hops.filter((hop) => own.test(hop)).length > OWN_HOPS_MAX;
}
