import { type FoundRecords, NameRecords } from '#egress/name-records.js';
import { SIGNATURES_MAX } from '#engine/mail/signature-keys.js';

/** A DNS failure in the form that verifiers expect: `ETIMEOUT` for no answer, `ENODATA` for no record. */
export class LookupError extends Error {
  constructor(
    readonly code: 'ETIMEOUT' | 'ENODATA',
    name: string,
  ) {
    super(code === 'ENODATA' ? `There is no such record of ${name}.` : `No name server answered for ${name}.`);
  }
}

/**
 * Limits of the DNS queries for one message: time for each answer, and number of queries per phase. SPF may need 110
 * queries and DMARC 88. Queries for DKIM keys have a separate limit.
 */
const ANSWER_MS_MAX = 3_000;
const QUESTIONS_MAX = 120;

/** Names that are never sent to name servers (RFC 6761, sections 6.3 and 6.4), so that local mail works without DNS. */
const NEVER_IN_DNS = /(?:^|\.)(?:localhost|invalid)\.?$/i;

type Answers = Map<string, Promise<FoundRecords<unknown>>>;

/**
 * DNS lookups for one message. The sender of the message controls the queries, so they are limited: 3 s for an answer,
 * 120 queries and a time limit for each phase, and 20 DKIM keys. Beyond a limit, each query immediately gets
 * `ETIMEOUT`. Each phase has its own limits, so that SPF cannot use up the queries that DMARC needs.
 */
export class MessageLookups {
  private readonly answers: Answers = new Map();
  private readonly ending = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private isLate = false;
  private questions = 0;
  private keys = 0;
  private earlier = 0;

  constructor(
    private readonly records: NameRecords,
    /**
     * Key of a DNS quota. Each environment has its own quota, so that unresponsive name servers of one environment do
     * not delay the mail of others.
     */
    private readonly share: string,
    private readonly answerMsMax = ANSWER_MS_MAX,
  ) {}

  get asked(): number {
    return this.questions;
  }

  /** Starts a phase, such as SPF, with a new limit of queries and a time limit of `ms`. */
  allow(ms: number): void {
    clearTimeout(this.timer);
    this.earlier = this.questions;
    if (this.ending.signal.aborted) return;
    this.isLate = false;
    this.timer = setTimeout(() => (this.isLate = true), ms);
  }

  /** Ends all queries. Queries in flight get no answer. */
  close(): void {
    clearTimeout(this.timer);
    this.ending.abort();
  }

  /** Resolves DNS records, with the signature of `dns.promises.resolve`. Rejects with `LookupError`. */
  readonly resolve = async (name: string, type: string): Promise<unknown[]> => {
    const answer = await this.find(name, type);
    if ('unanswered' in answer) throw new LookupError('ETIMEOUT', name);
    const found = answer.found.filter((record) =>
      type !== 'A' && type !== 'AAAA' ? true : !(record as string).includes(':') === (type === 'A'),
    );
    if (found.length === 0) throw new LookupError('ENODATA', name);
    return type === 'TXT' ? found.map((text) => [text]) : found;
  };

  /** Returns the TXT records of a name, or the code of the DNS failure. Never throws. */
  txt(name: string): Promise<FoundRecords<string>> {
    return this.find(name, 'TXT') as Promise<FoundRecords<string>>;
  }

  private find(name: string, type: string): Promise<FoundRecords<unknown>> {
    const key = `${type === 'AAAA' ? 'A' : type} ${name.toLowerCase()}`;
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    if (NEVER_IN_DNS.test(name)) return Promise.resolve({ found: [] });
    const isKey = type === 'TXT' && /\._domainkey\./i.test(name);
    if (
      this.isLate ||
      this.questions - this.earlier >= QUESTIONS_MAX + this.keys ||
      (isKey && this.keys >= SIGNATURES_MAX)
    )
      return Promise.resolve({ unanswered: 'ETIMEOUT' });
    this.questions += 1;
    this.keys += isKey ? 1 : 0;
    const answer = this.inTime(this.ask(name, type).then(orNothing));
    this.answers.set(key, answer);
    return answer;
  }

  private ask(name: string, type: string): Promise<FoundRecords<unknown>> {
    switch (type) {
      case 'TXT':
        return this.records.txt(name, this.share);
      case 'MX':
        return this.records.mx(name, this.share);
      case 'CNAME':
        return this.records.cname(name, this.share);
      case 'PTR':
        return this.records.pointers(addressOfReverse(name), this.share);
      default:
        return this.records.addresses(name, this.share);
    }
  }

  private async inTime(asking: Promise<FoundRecords<unknown>>): Promise<FoundRecords<unknown>> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<{ unanswered: string }>((resolve) => {
      const end = (): void => resolve({ unanswered: 'ETIMEOUT' });
      timer = setTimeout(end, this.answerMsMax);
      this.ending.signal.addEventListener('abort', end, { once: true });
    });
    try {
      return await Promise.race([asking, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Returns the answer, but treats an invalid name as a name without records. Senders choose names, for example with SPF
 * macros (RFC 7208, section 7). If an invalid name counted as a DNS failure, a sender could disable the DMARC policy.
 */
function orNothing(answer: FoundRecords<unknown>): FoundRecords<unknown> {
  return 'unanswered' in answer && answer.unanswered === 'EBADNAME' ? { found: [] } : answer;
}

/** Returns the IP address that a reverse-lookup name contains (RFC 1035, section 3.5; RFC 3596, section 2.5). */
function addressOfReverse(name: string): string {
  const labels = name
    .toLowerCase()
    .replace(/\.(?:in-addr|ip6)\.arpa\.?$/, '')
    .split('.')
    .reverse();
  return labels.length <= 4 ? labels.join('.') : (labels.join('').match(/.{1,4}/g) ?? []).join(':');
}
