/** Properties that the list needs to identify and update its rows. */
export interface Row {
  id: string;
  status: string;
  received_at: string;
  attempt_count: number;
  last_attempt: { status: number | null; error: string | null; at: string } | null;
  next_attempt_at: string | null;
}

/** An attempt, as the stream sends it. */
export interface StreamedAttempt {
  number: number;
  status: number | null;
  error: string | null;
  at: string;
  next_attempt_at: string | null;
}

/** A change to an event, and the event's state after the change. */
export interface News<T extends Row> {
  /** Whether the change adds a row for its event if the list has none. */
  isNew: boolean;
  row: T;
  attempt?: StreamedAttempt | undefined;
  /** True if the row comes from a list response, so that all its properties are current. */
  isWhole?: boolean;
}

/**
 * Maximum number of new rows that stay hidden until the user clicks the button for new events. Further rows are only
 * counted.
 */
const WAITING_MAX = 1_000;
/**
 * Maximum number of rows that arrived through the stream. If it is exceeded, older rows are dropped. They are loaded
 * again when the user scrolls to them.
 */
const LIVE_MAX = 10_000;
const LIVE_KEPT = 2_000;
const COUNTED_IDS_MAX = 100_000;

/**
 * The rows of the list: first those that arrived through the stream, then the loaded pages. Each event has one row,
 * with its newest state. The object is mutable, because copying a hundred thousand rows several times a second is too
 * expensive.
 */
export class RowList<T extends Row> {
  private pages: readonly (readonly T[])[] = [];
  private paged: T[] = [];
  private live: T[] = [];
  private behind: T[] = [];
  private readonly known = new Map<string, T>();
  private readonly notKeptIds = new Set<string>();
  private notKeptMore = 0;

  /**
   * `isOrdered`: whether the list is sorted by id. With a state or error filter, any change can add an old event, so
   * the list has the latest change on top instead.
   */
  constructor(private readonly isOrdered: boolean) {}

  get count(): number {
    return this.live.length + this.paged.length;
  }

  /** Number of new rows that stay hidden until the user clicks the button for new events. */
  get waiting(): number {
    return this.behind.length;
  }

  /** Number of new events that are only counted. Showing them requires a reload of the list. */
  get notKept(): number {
    return this.notKeptIds.size + this.notKeptMore;
  }

  at(index: number): T | undefined {
    return index < this.live.length ? this.live[index] : this.paged[index - this.live.length];
  }

  indexOf(id: string): number {
    if (!this.known.has(id)) return -1;
    const live = this.live.findIndex((row) => row.id === id);
    if (live !== -1) return live;
    const paged = this.paged.findIndex((row) => row.id === id);
    return paged === -1 ? -1 : this.live.length + paged;
  }

  /** Returns the row of an event, whether the row is shown or still hidden. */
  get(id: string): T | undefined {
    return this.known.get(id);
  }

  /** Returns the number of rows, shown or held, whose events were received between two times. */
  countBetween(since: string, until: string): number {
    let count = 0;
    for (const { received_at: at } of this.known.values()) if (at >= since && at <= until) count += 1;
    return count;
  }

  /** Sets the loaded pages. Skips pages that the list already contains. */
  setPages(pages: readonly (readonly T[])[]): void {
    const isMore = this.pages.every((page, at) => pages[at] === page);
    if (!isMore) {
      for (const { id } of this.paged) this.known.delete(id);
      this.paged = [];
    }
    for (const page of isMore ? pages.slice(this.pages.length) : pages) {
      for (const row of page) {
        // Moves a row that is still held to its page. Skips rows that are already shown.
        if (this.known.has(row.id) && !this.takeOut(row.id)) continue;
        this.known.set(row.id, row);
        this.paged.push(row);
      }
    }
    this.pages = pages;
  }

  /**
   * Applies changes from the stream. If `isReading` is true, new rows stay hidden until the user clicks the button for
   * new events. If older rows are dropped, returns the time from which the list continues.
   */
  arrive(news: readonly News<T>[], isReading: boolean): string | null {
    const added: T[] = [];
    for (const { isNew, row, attempt, isWhole = false } of news) {
      const held = this.known.get(row.id);
      if (held === undefined && (!isNew || this.notKeptIds.has(row.id))) continue;
      if (held === undefined) {
        this.known.set(row.id, row);
        added.push(row);
      }
      if (!isWhole) bringUpToDate(held ?? row, row, attempt);
      else if (held !== undefined) Object.assign(held, row);
    }
    if (added.length === 0) return null;
    added.reverse();
    if (isReading || this.behind.length > 0 || this.notKept > 0) {
      this.behind = this.inOrder([...added, ...this.behind]);
      for (const { id } of this.behind.splice(WAITING_MAX)) this.countOnly(id);
      return null;
    }
    this.live = this.inOrder([...added, ...this.live]);
    return this.live.length > LIVE_MAX ? this.letGo() : null;
  }

  /** Shows the new rows that were hidden until now. */
  letIn(): void {
    this.live = this.inOrder([...this.behind, ...this.live]);
    this.behind = [];
  }

  /** Removes all rows before the list is reloaded. */
  clear(): void {
    this.pages = this.paged = this.live = this.behind = [];
    this.known.clear();
    this.notKeptIds.clear();
    this.notKeptMore = 0;
  }

  private letGo(): string {
    const gone = this.live.splice(LIVE_KEPT);
    const newest = gone.reduce((latest, { received_at: at }) => (at > latest ? at : latest), '');
    for (const { id } of [...gone, ...this.paged]) this.known.delete(id);
    this.pages = this.paged = [];
    return newest;
  }

  private takeOut(id: string): boolean {
    const at = this.behind.findIndex((row) => row.id === id);
    if (at !== -1) this.behind.splice(at, 1);
    return at !== -1;
  }

  private countOnly(id: string): void {
    this.known.delete(id);
    if (this.notKeptIds.size < COUNTED_IDS_MAX) this.notKeptIds.add(id);
    else this.notKeptMore += 1;
  }

  /** Sorts the rows if the list is ordered, and returns them. This is fast, because they are almost sorted. */
  private inOrder(rows: T[]): T[] {
    return this.isOrdered ? rows.sort((a, b) => (a.id < b.id ? 1 : -1)) : rows;
  }
}

/** Applies a change to a row. Ignores an attempt that the row already includes. */
function bringUpToDate(row: Row, { status }: Row, attempt: StreamedAttempt | undefined): void {
  row.status = status;
  if (status !== 'retrying') row.next_attempt_at = null;
  if (attempt === undefined || (row.last_attempt !== null && attempt.at <= row.last_attempt.at)) return;
  row.attempt_count = Math.max(row.attempt_count + 1, attempt.number);
  row.last_attempt = { status: attempt.status, error: attempt.error, at: attempt.at };
  if (status === 'retrying') row.next_attempt_at = attempt.next_attempt_at;
}
