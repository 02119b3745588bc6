import type { NameRecords } from '#egress/name-records.js';

const HOSTS_MAX = 5;

/** Hosts in the order in which they are tried, or the temporary or permanent error if there are none. */
export type MailHosts = { hosts: string[] } | FailedLookup;

export interface FailedLookup {
  outcome: 'bounced' | 'deferred';
  code: number;
  enhanced: string;
  text: string;
}

export type MailRecords = Pick<NameRecords, 'mx' | 'addresses'>;

/**
 * Returns the MX hosts by preference, shuffled within each preference, or the domain itself if it has only an address
 * (RFC 5321, section 5.1). A null MX (RFC 7505), or neither MX nor address, is a permanent error.
 */
export async function mailHosts(records: MailRecords, domain: string, random: () => number): Promise<MailHosts> {
  const mx = await records.mx(domain, domain);
  if ('unanswered' in mx) return unanswered(domain, mx.unanswered);
  if (mx.found.length > 0) return ofMx(domain, mx.found, random);
  const addresses = await records.addresses(domain, domain);
  if ('unanswered' in addresses) return unanswered(domain, addresses.unanswered);
  if (addresses.found.length > 0) return { hosts: [domain] };
  return {
    outcome: 'bounced',
    code: 550,
    enhanced: '5.1.2',
    text: `550 5.1.2 ${domain} has neither an MX record nor an address.`,
  };
}

function ofMx(
  domain: string,
  found: readonly { exchange: string; priority: number }[],
  random: () => number,
): MailHosts {
  const named = found
    .map(({ exchange, priority }) => ({ name: exchange.toLowerCase().replace(/\.$/, ''), priority, turn: random() }))
    .filter(({ name }) => name !== '');
  if (named.length === 0)
    return {
      outcome: 'bounced',
      code: 556,
      enhanced: '5.1.10',
      text: `556 5.1.10 ${domain} takes no mail (null MX, RFC 7505).`,
    };
  const sorted = named.sort((a, b) => a.priority - b.priority || a.turn - b.turn).map(({ name }) => name);
  return { hosts: [...new Set(sorted)].slice(0, HOSTS_MAX) };
}

/** Returns the temporary error for a domain whose name servers did not answer. */
export function unanswered(domain: string, code: string): FailedLookup {
  return {
    outcome: 'deferred',
    code: 451,
    enhanced: '4.4.3',
    text: `451 4.4.3 The name servers of ${domain} did not answer (${code}).`,
  };
}
