import { Injectable } from '@nestjs/common';
import { VERSION } from '../version.js';

export interface PartReadiness {
  ready: boolean;
  [figure: string]: unknown;
}

/** Readiness checks for `/health/ready`. A draining process is never ready. */
@Injectable()
export class Readiness {
  private readonly parts = new Map<string, () => Promise<PartReadiness>>();
  private draining = false;
  private number: number | null = null;

  register(part: string, check: () => Promise<PartReadiness>): void {
    this.parts.set(part, check);
  }

  /** Sets the number of this process among those that share the port. Readiness responses contain the number. */
  numbered(number: number): void {
    this.number = number;
  }

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
