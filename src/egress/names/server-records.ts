import { Resolver } from 'node:dns/promises';
import { type FoundRecords, NameRecords, type MxRecord } from '../name-records.js';
import { LookupFailed } from './lookup-failed.js';
import { LookupTurns } from './lookup-turns.js';
import { codeOf, SAYS_NO } from './name-servers.js';

export interface ServerRecordsOptions {
  /** DNS_SERVERS; none means those of /etc/resolv.conf, as it stands then. */
  servers: readonly string[];
  /** For a whole question: its turn, every server. */
  deadlineMs?: number;
}

const DEADLINE_MS = 4_000;
const SERVER_TIMEOUT_MS = 1_200;
const TRIES = 2;
/** Whoever's name servers are silent waits for himself. */
const TURNS = { runningMax: 256, runningOfOneMax: 48, waitingMax: 2_048, waitingOfOneMax: 256 };
/** A zone may have thousands: nobody is told of more. */
const RECORDS_MAX = 100;

/** Records from name servers, asked anew each time. */
export class ServerRecords extends NameRecords {
  private readonly turns = new LookupTurns(TURNS);
  private readonly underWay = new Set<AbortController>();

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

  /** Ends every question. */
  close(): void {
    for (const ending of this.underWay) ending.abort(new LookupFailed('ECANCELLED'));
  }

  private async ask<T>(share: string, question: (resolver: Resolver) => Promise<T[]>): Promise<FoundRecords<T>> {
    const ending = new AbortController();
    const late = setTimeout(() => ending.abort(new LookupFailed('ETIMEOUT')), this.options.deadlineMs ?? DEADLINE_MS);
    this.underWay.add(ending);
    try {
      const release = await this.turns.take(share, ending.signal);
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

  /** A resolver each: it can be cancelled alone, remembers nothing, and asks from a port that nobody can guess. */
  private async answer<T>(question: (resolver: Resolver) => Promise<T[]>, signal: AbortSignal): Promise<T[]> {
    const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: TRIES });
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (this.options.servers.length > 0) resolver.setServers(this.options.servers);
      return await question(resolver);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof LookupFailed ? error.reason : codeOf(error);
}
