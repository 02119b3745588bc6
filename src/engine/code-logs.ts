export const LOG_LEVELS = ['debug', 'error', 'info', 'log', 'warn'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Output that the user's code wrote with console methods during one call. */
export interface CodeLogs {
  lines: { level: LogLevel; text: string }[];
  /** True if lines were left out or cut. */
  truncated: boolean;
}
