import { isIPv6 } from 'node:net';
import { dkimHost, type DkimPublicKey, dkimText, returnPathHost, spfHost } from './dns-records.js';

export interface PlatformFacts {
  domain: string;
  /** PLATFORM_ADDRESSES: public IPv4 and IPv6 addresses of the installation. */
  addresses: readonly string[];
  spf: string | null;
  dkim: readonly DkimPublicKey[];
}

export type ZoneRecord = { name: string; ttl: number } & (
  | { type: 'A' | 'AAAA' | 'NS'; value: string }
  | { type: 'TXT'; strings: readonly string[] }
  | { type: 'MX'; priority: number; value: string }
  | { type: 'SOA'; soa: ZoneStart }
);

/** Fields of an SOA record (RFC 1035, section 3.3.13). All numbers except the serial are seconds. */
export interface ZoneStart {
  primary: string;
  mailbox: string;
  serial: number;
  refresh: number;
  retry: number;
  expire: number;
  /** Seconds for which resolvers cache that a record does not exist (RFC 2308). */
  negativeTtl: number;
}

/**
 * Answer of a zone. `refused`: the name is in another zone. `fine`: the name exists. `absent`: the name does not exist.
 */
export type ZoneAnswer = { code: 'fine' | 'absent'; records: readonly ZoneRecord[] } | { code: 'refused' };

const TTL_SECONDS = 3_600;
const NEGATIVE_TTL_SECONDS = 300;
const STRING_CHARACTERS_MAX = 255;
const PRIORITY = 10;

export function mailHost(platformDomain: string): string {
  return `mx.${platformDomain}`;
}

/**
 * Returns the mail server's name: SMTP_NAME, or else a name below the platform's domain, or the domain itself if it is
 * local.
 */
export function receivingName({
  smtpName,
  platformDomain,
}: {
  smtpName: string | null;
  platformDomain: string;
}): string {
  return smtpName ?? (platformDomain.includes('.') ? mailHost(platformDomain) : platformDomain);
}

/** Returns the records that the operator publishes once, in the recommended order. */
export function platformRecords({ domain, addresses, spf, dkim }: PlatformFacts): ZoneRecord[] {
  const senders = [
    ...addresses.map((address) => `${isIPv6(address) ? 'ip6' : 'ip4'}:${address}`),
    ...(spf === null ? [] : [spf]),
  ];
  return [
    ...addressRecords(domain, addresses),
    ...addressRecords(mailHost(domain), addresses),
    mx(domain, mailHost(domain)),
    txt(domain, `v=spf1 include:${spfHost(domain)} ~all`),
    txt(spfHost(domain), ['v=spf1', ...senders, '~all'].join(' ')),
    mx(returnPathHost(domain), mailHost(domain)),
    txt(returnPathHost(domain), `v=spf1 include:${spfHost(domain)} ~all`),
    ...dkim.map(({ selector, publicKey }) => txt(dkimHost(selector, domain), dkimText(publicKey))),
  ];
}

/** Returns the records of a separate DNS zone, including its SOA record, with this host as its name server. */
export function platformZone(facts: PlatformFacts, serial: number): ZoneRecord[] {
  const { domain, addresses } = facts;
  const servers = [`ns1.${domain}`, `ns2.${domain}`];
  const soa = {
    primary: servers[0] as string,
    mailbox: `hostmaster.${domain}`,
    serial,
    refresh: 7_200,
    retry: 900,
    expire: 1_209_600,
    negativeTtl: NEGATIVE_TTL_SECONDS,
  };
  return [
    { name: domain, ttl: TTL_SECONDS, type: 'SOA', soa },
    ...servers.map((value): ZoneRecord => ({ name: domain, ttl: TTL_SECONDS, type: 'NS', value })),
    ...servers.flatMap((server) => addressRecords(server, addresses)),
    ...platformRecords(facts),
  ];
}

/**
 * Returns the authoritative answer. Ignores the case of names. For ANY, returns only the first existing type (RFC
 * 8482).
 */
export function answerFrom(zone: readonly ZoneRecord[], name: string, type: string): ZoneAnswer {
  const [start] = zone;
  const asked = name.toLowerCase().replace(/\.$/, '');
  if (start === undefined || (asked !== start.name && !asked.endsWith(`.${start.name}`))) return { code: 'refused' };
  const there = zone.filter((record) => record.name === asked);
  // A name with subdomains exists even if it has no records (RFC 8020).
  const exists = there.length > 0 || zone.some((record) => record.name.endsWith(`.${asked}`));
  const wanted = type === 'ANY' ? there.find((record) => record.type !== 'SOA')?.type : type;
  return { code: exists ? 'fine' : 'absent', records: there.filter((record) => record.type === wanted) };
}

/** Formats a record as a zone file line (RFC 1035, section 5.1). */
export function zoneLine(record: ZoneRecord): string {
  const front = `${record.name}. ${record.ttl} IN ${record.type}`;
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return `${front} ${record.value}`;
    case 'NS':
      return `${front} ${record.value}.`;
    case 'MX':
      return `${front} ${record.priority} ${record.value}.`;
    case 'TXT':
      return `${front} ${record.strings.map((each) => JSON.stringify(each)).join(' ')}`;
    case 'SOA': {
      const { primary, mailbox, serial, refresh, retry, expire, negativeTtl } = record.soa;
      return `${front} ${primary}. ${mailbox}. ${serial} ${refresh} ${retry} ${expire} ${negativeTtl}`;
    }
  }
}

function addressRecords(name: string, addresses: readonly string[]): ZoneRecord[] {
  return addresses.map((value) => ({ name, ttl: TTL_SECONDS, type: isIPv6(value) ? 'AAAA' : 'A', value }));
}

function mx(name: string, value: string): ZoneRecord {
  return { name, ttl: TTL_SECONDS, type: 'MX', priority: PRIORITY, value };
}

function txt(name: string, text: string): ZoneRecord {
  const strings = Array.from({ length: Math.ceil(text.length / STRING_CHARACTERS_MAX) }, (_each, i) =>
    text.slice(i * STRING_CHARACTERS_MAX, (i + 1) * STRING_CHARACTERS_MAX),
  );
  return { name, ttl: TTL_SECONDS, type: 'TXT', strings };
}
