export interface QueueTurn<T> {
  readonly item: T;
  readonly organization: string;
  readonly endpoint: string;
  /**
   * CPU milliseconds that `take` charged to the endpoint in advance. They are replaced by the actual cost when that is
   * known.
   */
  readonly chargedMs: number;
}

interface Line<T> {
  /**
   * Virtual time of the endpoint, in charged CPU milliseconds. In an organization, the endpoint with the lowest virtual
   * time is served next.
   */
  virtualMs: number;
  expectedMs: number;
  items: T[];
}

interface Account<T> {
  virtualMs: number;
  /**
   * Virtual time of the endpoint that was served last. An endpoint that had no items restarts at this time, so that
   * idle time earns no credit.
   */
  nowMs: number;
  waiting: number;
  lines: Map<string, Line<T>>;
}

type Admits = (organization: string, endpoint: string) => boolean;

const EXPECTED_MS = 1;
/** Minimum CPU time charged for an item, so that items without measurable cost also advance the virtual time. */
const CHARGE_MS_MIN = 0.1;
const ACCOUNTS_MAX = 5_000;
const LINES_MAX = 1_000;

/**
 * Start-time fair queueing on two levels. Organizations share the threads equally, measured by the CPU time of their
 * items. The endpoints of an organization share its CPU time equally. The items of an endpoint are served in order of
 * arrival.
 *
 * Organizations and endpoints that use idle capacity are not penalized later. They earn no credit while they are idle.
 */
export class FairQueue<T> {
  private readonly accounts = new Map<string, Account<T>>();
  private nowMs = 0;
  private count = 0;

  get size(): number {
    return this.count;
  }

  sizeOf(organization: string): number {
    return this.accounts.get(organization)?.waiting ?? 0;
  }

  push(organization: string, endpoint: string, item: T): void {
    const account = this.account(organization);
    if (account.waiting === 0) account.virtualMs = Math.max(account.virtualMs, this.nowMs);
    const line = lineOf(account, endpoint);
    if (line.items.length === 0) line.virtualMs = Math.max(line.virtualMs, account.nowMs);
    line.items.push(item);
    account.waiting += 1;
    this.count += 1;
  }

  has(admits: Admits): boolean {
    return this.count > 0 && this.next(admits) !== undefined;
  }

  /**
   * Removes and returns the next item, if any. Charges the endpoint in advance with the recent CPU time of its items.
   */
  take(admits: Admits): QueueTurn<T> | undefined {
    const next = this.next(admits);
    if (!next) return undefined;
    const { organization, endpoint, account, line } = next;
    const item = line.items.shift() as T;
    account.waiting -= 1;
    this.count -= 1;
    this.nowMs = Math.max(this.nowMs, account.virtualMs);
    account.nowMs = Math.max(account.nowMs, line.virtualMs);
    account.virtualMs += line.expectedMs;
    line.virtualMs += line.expectedMs;
    return { item, organization, endpoint, chargedMs: line.expectedMs };
  }

  settle({ organization, endpoint, chargedMs }: QueueTurn<T>, costMs: number): void {
    const account = this.accounts.get(organization);
    const line = account?.lines.get(endpoint);
    if (!account || !line) return;
    const cost = Math.max(costMs, CHARGE_MS_MIN);
    account.virtualMs += cost - chargedMs;
    line.virtualMs += cost - chargedMs;
    line.expectedMs = (line.expectedMs + cost) / 2;
  }

  /** Removes a waiting item. Has no effect if the item was already taken. */
  remove(organization: string, endpoint: string, item: T): void {
    const account = this.accounts.get(organization);
    const items = account?.lines.get(endpoint)?.items;
    const index = items?.indexOf(item) ?? -1;
    if (!account || !items || index < 0) return;
    items.splice(index, 1);
    account.waiting -= 1;
    this.count -= 1;
  }

  private next(
    admits: Admits,
  ): { organization: string; endpoint: string; account: Account<T>; line: Line<T> } | undefined {
    let best: { organization: string; endpoint: string; account: Account<T>; line: Line<T> } | undefined;
    for (const [organization, account] of this.accounts) {
      if (account.waiting === 0 || (best && account.virtualMs >= best.account.virtualMs)) continue;
      const found = nextLine(account, (endpoint) => admits(organization, endpoint));
      if (found) best = { organization, endpoint: found[0], account, line: found[1] };
    }
    return best;
  }

  private account(organization: string): Account<T> {
    let account = this.accounts.get(organization);
    if (!account) {
      forgetOne(this.accounts, ACCOUNTS_MAX, ({ waiting }) => waiting === 0);
      account = { virtualMs: this.nowMs, nowMs: 0, waiting: 0, lines: new Map() };
      this.accounts.set(organization, account);
    }
    return account;
  }
}

function lineOf<T>(account: Account<T>, endpoint: string): Line<T> {
  let line = account.lines.get(endpoint);
  if (!line) {
    forgetOne(account.lines, LINES_MAX, ({ items }) => items.length === 0);
    line = { virtualMs: account.nowMs, expectedMs: EXPECTED_MS, items: [] };
    account.lines.set(endpoint, line);
  }
  return line;
}

function nextLine<T>({ lines }: Account<T>, admits: (endpoint: string) => boolean): [string, Line<T>] | undefined {
  let best: [string, Line<T>] | undefined;
  for (const [endpoint, line] of lines) {
    const isBetter = line.items.length > 0 && (!best || line.virtualMs < best[1].virtualMs);
    if (isBetter && admits(endpoint)) best = [endpoint, line];
  }
  return best;
}

/** Removes the oldest idle entry if the map has `max` entries. */
function forgetOne<V>(known: Map<string, V>, max: number, isIdle: (value: V) => boolean): void {
  if (known.size < max) return;
  for (const [key, value] of known) {
    if (!isIdle(value)) continue;
    known.delete(key);
    return;
  }
}
