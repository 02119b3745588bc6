import { domainOf } from './addresses.js';
import { isAutoSubmitted } from './author.js';
import { mailDate } from './mail-date.js';
import type { Verdicts } from './mail-verdicts.js';
import { type HeadField, valuesOf } from './message-head.js';

/**
 * Header that marks a forwarded message. Contains the alias, and a return path that identifies bounces of the message.
 */
export const FORWARD_STAMP = 'X-Posthorn-Forwarded';
/** Maximum number of servers that a message has passed. Each round of a forwarding loop adds several. */
const HOPS_MAX = 50;
/** Maximum number of aliases, of any installation, that forward a message in succession. */
const STAMPS_MAX = 3;

/** Returns why a message must not be forwarded by an alias (`al_…`), as a sentence. Null if it may be forwarded. */
export function noForwardReason(fields: readonly HeadField[], alias: { id: string; address: string }): string | null {
  const stamps = valuesOf(fields, FORWARD_STAMP.toLowerCase());
  if (stamps.some((stamp) => stamp.split(/[\s;]+/).includes(alias.id)))
    return 'The alias has already forwarded this message: it is in a mail loop.';
  if (valuesOf(fields, 'x-loop').some((value) => value.toLowerCase().includes(alias.address.toLowerCase())))
    return 'Its X-Loop header names the alias: it is in a mail loop.';
  if (stamps.length >= STAMPS_MAX) return `${STAMPS_MAX} aliases have already forwarded this message.`;
  if (stamps.length > 0 && isAutoSubmitted(fields))
    return 'It is an automatic message that was already forwarded, possibly the answer to a forwarded message.';
  if (valuesOf(fields, 'received').length > HOPS_MAX) return `It passed through more than ${HOPS_MAX} servers.`;
  return null;
}

export interface ForwardTrace {
  /** Name of the server that forwards the message. */
  ownName: string;
  helo: string;
  clientIp: string;
  /** Id of the message in the form that the API shows, with its prefix. `aliasId` has a prefix, too. */
  messageId: string;
  aliasId: string;
  receivedAt: Date;
  /** Return path that identifies the forwarded copy, without angle brackets. */
  returnPath: string;
}

/** Returns the header fields that a forwarding server adds at the top (RFC 5321, section 4.4), with line ends. */
export function forwardTrace(trace: ForwardTrace): string {
  const helo = /^[\w.:[\]-]{1,255}$/.test(trace.helo) ? trace.helo : 'unknown';
  const client = trace.clientIp.includes(':') ? `IPv6:${trace.clientIp}` : trace.clientIp;
  const date = mailDate(trace.receivedAt);
  return (
    `${FORWARD_STAMP}: ${trace.aliasId};\r\n ${trace.returnPath}\r\n` +
    `Received: from ${helo} ([${client}])\r\n by ${trace.ownName} with ESMTP id ${trace.messageId};\r\n ${date}\r\n`
  );
}

export type ForwardedVerdicts = Pick<Verdicts, 'spf' | 'dkim' | 'dkimDomains' | 'dmarc' | 'arc'>;

const PROPERTY = /^[a-z0-9.-]{1,253}$/i;

/** Returns the value of an authentication results header (RFC 8601), for an ARC set. */
export function authenticationResults(
  ownName: string,
  { spf, dkim, dkimDomains, dmarc, arc }: ForwardedVerdicts,
  { envelopeFrom, fromAddress }: { envelopeFrom: string; fromAddress: string | null },
): string {
  const property = (name: string, domain: string): string => (PROPERTY.test(domain) ? ` ${name}=${domain}` : '');
  // An empty domain stands for a message without such a signature.
  const signers = dkimDomains.length === 0 ? [''] : dkimDomains;
  return [
    ownName,
    `spf=${spf}${property('smtp.mailfrom', domainOf(envelopeFrom))}`,
    ...signers.map((domain) => `dkim=${dkim}${property('header.d', domain)}`),
    `dmarc=${dmarc}${property('header.from', domainOf(fromAddress ?? ''))}`,
    `arc=${arc}`,
  ].join(';\r\n ');
}
