/** What a process says of itself. */
export class HealthDto {
  /** @example 'ok' */
  status: 'ok' | 'ready';

  /** Figures of every part, in readiness answers. */
  parts?: Record<string, unknown>;
}
