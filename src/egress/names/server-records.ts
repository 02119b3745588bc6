import { Resolver } from 'node:dns/promises';
import { type FoundRecords, type MxRecord, NameRecords } from '../name-records.js';
import { LookupFailed } from './lookup-failed.js';
import { LookupQueue } from './lookup-queue.js';
import { codeOf, SAYS_NO } from './name-servers.js';

export interface ServerRecordsOptions {
  /** Value of DNS_SERVERS. If empty, the servers of the current /etc/resolv.conf are used. */
  servers: readonly string[];
  /** Time limit of a whole query, including the wait for a slot and all servers. */
  deadlineMs?: number;
}

const DEADLINE_MS = 4_000;
const SERVER_TIMEOUT_MS = 1_200;
const TRIES = 2;
/** Limits per share (a group of names), so that unresponsive name servers delay only the queries of one share. */
const QUEUE_LIMITS = { runningMax: 256, runningOfOneMax: 48, waitingMax: 2_048, waitingOfOneMax: 256 };
/**
 * Maximum number of queries per resolver. Reusing a resolver saves time, but each resolver has its own source ports,
 * which must stay hard to predict.
 */
const QUESTIONS_OF_ONE = 64;
const RESOLVER_MS_MAX = 1_000;
/** Maximum number of returned records, since a name may have thousands. */
const RECORDS_MAX = 100;

export class ServerRecords extends NameRecords {
  private readonly queue = new LookupQueue(QUEUE_LIMITS);
  private readonly underWay = new Set<AbortController>();
  private readonly asking = new Map<Resolver, number>();
  private fresh: { resolver: Resolver; left: number; untilMs: number } | null = null;

  constructor(private readonly options: ServerRecordsOptions) {
    super();
  }

  override txt(name: string, share: string): Promise<FoundRecords<string>> {
    return this.ask(share, async (resolver) => (await resolver.resolveTxt(name)).map((strings) => strings.join('')));
  }

  override cname(name: string, share: string): Promise<FoundRecords<string>> {
    return this.ask(share, (resolver) => resolver.resolveCname(name));
  }

  override mx(name: string, share: string): Promise<FoundRecords<MxRecord>> {
    return this.ask(share, (resolver) => resolver.resolveMx(name));
  }

  override async addresses(name: string, share: string): Promise<FoundRecords<string>> {
    const [four, six] = await Promise.all([
      this.ask(share, (resolver) => resolver.resolve4(name)),
      this.ask(share, (resolver) => resolver.resolve6(name)),
    ]);
    const unanswered = [four, six].find((answer) => 'unanswered' in answer);
    if (unanswered !== undefined) return unanswered;
    return { found: [four, six].flatMap((answer) => ('found' in answer ? answer.found : [])) };
  }

  override pointers(address: string, share: string): Promise<FoundRecords<string>> {
    return this.ask(share, (resolver) => resolver.reverse(address));
  }

  close(): void {
    for (const ending of this.underWay) ending.abort(new LookupFailed('ECANCELLED'));
    for (const resolver of this.asking.keys()) resolver.cancel();
  }

  private async ask<T>(share: string, question: (resolver: Resolver) => Promise<T[]>): Promise<FoundRecords<T>> {
    const ending = new AbortController();
    const late = setTimeout(() => ending.abort(new LookupFailed('ETIMEOUT')), this.options.deadlineMs ?? DEADLINE_MS);
    this.underWay.add(ending);
    try {
      const release = await this.queue.take(share, ending.signal);
      try {
        return { found: (await this.answer(question, ending.signal)).slice(0, RECORDS_MAX) };
      } finally {
        release();
      }
    } catch (error) {
      const code = ending.signal.aborted ? reasonOf(ending.signal.reason) : reasonOf(error);
      return SAYS_NO.has(code) ? { found: [] } : { unanswered: code };
    } finally {
      clearTimeout(late);
      this.underWay.delete(ending);
    }
  }

  /** Returns the records. Rejects on abort. The query itself continues, because other queries share its resolver. */
  private async answer<T>(question: (resolver: Resolver) => Promise<T[]>, signal: AbortSignal): Promise<T[]> {
    signal.throwIfAborted();
    const resolver = this.resolver();
    this.asking.set(resolver, (this.asking.get(resolver) ?? 0) + 1);
    const answering = question(resolver).finally(() => this.answered(resolver));
    let leave = (): void => undefined;
    const left = new Promise<never>((_, reject) => (leave = () => reject(signal.reason as Error)));
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([answering, left]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Returns a resolver. A resolver has no cache, and reads /etc/resolv.conf only when it is created. */
  private resolver(): Resolver {
    const nowMs = performance.now();
    if (this.fresh === null || this.fresh.left === 0 || this.fresh.untilMs <= nowMs) {
      const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: TRIES });
      if (this.options.servers.length > 0) resolver.setServers(this.options.servers);
      this.fresh = { resolver, left: QUESTIONS_OF_ONE, untilMs: nowMs + RESOLVER_MS_MAX };
    }
    this.fresh.left -= 1;
    return this.fresh.resolver;
  }

  private answered(resolver: Resolver): void {
    const left = (this.asking.get(resolver) ?? 1) - 1;
    if (left > 0) this.asking.set(resolver, left);
    else this.asking.delete(resolver);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof LookupFailed ? error.reason : codeOf(error);
}
