import { type HeadField, valuesOf } from './message-head.js';

/** RFC 5321, section 6.3: a large number of trace fields, normally at least 100, is a loop. */
const HOPS_MAX = 100;
/** So often a message may have come through here: a forwarder that sends it back does so again and again. */
const OWN_HOPS_MAX = 4;

/** Whether a message goes round in circles: it came through too many hosts, or through this one too often. */
export function isLooping(fields: readonly HeadField[], ownName: string): boolean {
  const hops = valuesOf(fields, 'received');
  if (hops.length > HOPS_MAX) return true;
  if (hops.length <= OWN_HOPS_MAX) return false;
  const own = new RegExp(`\\bby\\s+${ownName.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\.?(?=[\\s;(]|$)`, 'i');
  return hops.filter((hop) => own.test(hop)).length > OWN_HOPS_MAX;
}
