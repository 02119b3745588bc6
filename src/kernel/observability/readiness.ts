import { Injectable } from '@nestjs/common';
import { VERSION } from '../version.js';

/** What one part says of itself: whether it can do its work, and the figures that it judges by. */
export interface PartReadiness {
  ready: boolean;
  [figure: string]: unknown;
}

/** Collects what every part says; `/health/ready` shows it. A draining process is never ready. */
@Injectable()
export class Readiness {
  private readonly parts = new Map<string, () => Promise<PartReadiness>>();
  private draining = false;
  private number: number | null = null;

  register(part: string, check: () => Promise<PartReadiness>): void {
    this.parts.set(part, check);
  }

  /** Of several processes behind one port this is the one with this number: who asks shall know who answered. */
  numbered(number: number): void {
    this.number = number;
  }

  /** From now on this process says that it is not ready, so that no new traffic is sent to it. */
  drain(): void {
    this.draining = true;
  }

  async report(): Promise<{ ready: boolean; parts: Record<string, PartReadiness> }> {
    const parts: Record<string, PartReadiness> = {
      process: { ready: !this.draining, version: VERSION, ...(this.number !== null && { number: this.number }) },
    };
    await Promise.all(
      [...this.parts].map(async ([part, check]) => {
        parts[part] = await check().catch(() => ({ ready: false }));
      }),
    );
    return { ready: Object.values(parts).every(({ ready }) => ready), parts };
  }
}
