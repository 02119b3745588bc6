import { type FoundRecords, type MxRecord, NameRecords } from './name-records.js';

export interface RememberedRecordsOptions {
  entriesMax: number;
  /** Returns the time on a monotonic clock, in milliseconds. */
  nowMs: () => number;
}

/** Cache time of found records. Their TTL is unknown here, but is usually longer than this time. */
const FOUND_MS = 30_000;
/** Cache time of missing records. Short, so that a record published just after a query is soon visible. */
const NONE_MS = 5_000;
/** Cache time of failed queries. An unresponsive name server then delays only one query per name in this time. */
const SILENT_MS = 5_000;
/** Maximum length of a cached result, to limit the memory of the cache. */
const KEPT_CHARACTERS_MAX = 4_096;
/** Codes of local errors, which are not cached: too many queries were waiting, or the process is shutting down. */
const OF_THE_ASKER = new Set(['EBUSY', 'ECANCELLED']);

interface Entry {
  answer: FoundRecords<unknown>;
  freshUntilMs: number;
}

/**
 * Caches results for 30 seconds, because a flood of mail repeats a few names. Use it only where records may be 30
 * seconds old. If a query for the name is pending in the same `share`, waits for its result.
 */
export class RememberedRecords extends NameRecords {
  private readonly entries = new Map<string, Entry>();
  private readonly underWay = new Map<string, Promise<FoundRecords<unknown>>>();

  constructor(
    private readonly records: NameRecords,
    private readonly options: RememberedRecordsOptions,
  ) {
    super();
  }

  override txt(name: string, share: string): Promise<FoundRecords<string>> {
    return this.known('TXT', name, share, () => this.records.txt(name, share));
  }

  override cname(name: string, share: string): Promise<FoundRecords<string>> {
    return this.known('CNAME', name, share, () => this.records.cname(name, share));
  }

  override mx(name: string, share: string): Promise<FoundRecords<MxRecord>> {
    return this.known('MX', name, share, () => this.records.mx(name, share));
  }

  override addresses(name: string, share: string): Promise<FoundRecords<string>> {
    return this.known('A', name, share, () => this.records.addresses(name, share));
  }

  override pointers(address: string, share: string): Promise<FoundRecords<string>> {
    return this.known('PTR', address, share, () => this.records.pointers(address, share));
  }

  private known<T>(
    type: string,
    name: string,
    share: string,
    ask: () => Promise<FoundRecords<T>>,
  ): Promise<FoundRecords<T>> {
    const key = `${type} ${name.toLowerCase()}`;
    const entry = this.entries.get(key);
    if (entry !== undefined && entry.freshUntilMs > this.options.nowMs())
      return Promise.resolve(entry.answer as FoundRecords<T>);
    const question = `${share} ${key}`;
    const asking =
      (this.underWay.get(question) as Promise<FoundRecords<T>> | undefined) ??
      ask()
        .then((answer) => {
          this.remember(key, answer);
          return answer;
        })
        .finally(() => this.underWay.delete(question));
    this.underWay.set(question, asking);
    return asking;
  }

  private remember(key: string, answer: FoundRecords<unknown>): void {
    this.entries.delete(key);
    const forMs = msOf(answer);
    if (forMs === 0) return;
    this.entries.set(key, { answer, freshUntilMs: this.options.nowMs() + forMs });
    if (this.entries.size <= this.options.entriesMax) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }
}

function msOf(answer: FoundRecords<unknown>): number {
  if ('unanswered' in answer) return OF_THE_ASKER.has(answer.unanswered) ? 0 : SILENT_MS;
  if (answer.found.length === 0) return NONE_MS;
  const characters = answer.found.reduce(
    (sum: number, record) => sum + (typeof record === 'string' ? record.length : JSON.stringify(record).length),
    0,
  );
  return characters > KEPT_CHARACTERS_MAX ? 0 : FOUND_MS;
}
