import { Logger } from '@nestjs/common';
import type { Notifications } from '#kernel/database/notifications.js';

const RETRY_MS = 1_000;

interface AnnouncedData<T> {
  /** Topic of the notifications about changes of the data. */
  topic: string;
  /** First words of the warning after a failed load, for example "The paused domains". */
  subject: string;
  /** Data before the first load. */
  initial: T;
  load: () => Promise<T>;
}

/**
 * A copy of stored data in memory, so that reads need no query. Reloads the data after each change notification. Also
 * reloads every second after a failed load, and while notifications may be lost.
 */
export class AnnouncedCopy<T> {
  private readonly logger = new Logger(AnnouncedCopy.name);
  private current: T;
  private isStale = true;
  private reading: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly notifications: Notifications,
    private readonly data: AnnouncedData<T>,
  ) {
    this.current = data.initial;
    notifications.on(data.topic, () => this.refresh());
  }

  get value(): T {
    return this.current;
  }

  /** Resolves after the first load, even if that load failed. */
  async start(): Promise<void> {
    this.timer = setInterval(() => {
      if (this.isStale || this.notifications.isDeaf()) this.refresh();
    }, RETRY_MS);
    this.refresh();
    await this.reading;
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** Reloads the data. A change during a load causes another load. */
  private refresh(): void {
    this.isStale = true;
    this.reading ??= this.readAll().finally(() => (this.reading = null));
  }

  private async readAll(): Promise<void> {
    try {
      while (this.isStale) {
        this.isStale = false;
        this.current = await this.data.load();
      }
    } catch (error) {
      this.isStale = true;
      const { subject } = this.data;
      this.logger.warn(`${subject} can't be read, the next try is in ${RETRY_MS} ms: ${(error as Error).message}`);
    }
  }
}
