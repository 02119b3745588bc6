export const LOG_LEVELS = ['debug', 'error', 'info', 'log', 'warn'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Console output of the user's code during one call. */
export interface CodeLogs {
  lines: { level: LogLevel; text: string }[];
  /** True if lines were omitted or truncated. */
  truncated: boolean;
}
