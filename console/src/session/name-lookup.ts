/** Milliseconds for which a look-up waits for others that the same page starts. */
const GATHER_MS = 20;
/** Maximum number of ids that the API accepts in one request. */
const IDS_MAX = 100;

interface Waiting<T> {
  id: string;
  resolve: (found: T | null) => void;
  reject: (reason: unknown) => void;
}

/** Looks up resources by id. Combines the look-ups that a page starts at about the same time into few requests. */
export class NameLookup<T extends { id: string }> {
  private waiting: Waiting<T>[] = [];

  constructor(private readonly read: (ids: string[]) => Promise<readonly T[]>) {}

  /** Returns the resource, or null if it does not exist. Rejects if the request fails. */
  find(id: string): Promise<T | null> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setTimeout(() => this.flush(), GATHER_MS);
      this.waiting.push({ id, resolve, reject });
    });
  }

  private flush(): void {
    const { waiting } = this;
    this.waiting = [];
    for (let first = 0; first < waiting.length; first += IDS_MAX)
      void this.settle(waiting.slice(first, first + IDS_MAX));
  }

  private async settle(waiting: readonly Waiting<T>[]): Promise<void> {
    try {
      const found = new Map((await this.read(waiting.map(({ id }) => id))).map((each) => [each.id, each]));
      for (const { id, resolve } of waiting) resolve(found.get(id) ?? null);
    } catch (fault) {
      for (const { reject } of waiting) reject(fault);
    }
  }
}
