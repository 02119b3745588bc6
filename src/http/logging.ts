import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import { memoizeAsync } from '#kernel/concurrency/memoize-async.js';
import type { Config } from '#kernel/config/config.js';
import { BatchedLines } from './batched-lines.js';
import { OutageLog } from './outage-log.js';

/** Names of fields whose values are never logged, in the top three levels of a log entry. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'set-cookie',
  'secret',
  'secrets',
  'credentials',
  'password',
  'token',
  'key',
  'apiKey',
  'api_key',
  'masterKey',
  'signingKeys',
  'webhook-signature',
];

/** Nest contexts that log every module and route at start. Logged only at `debug`. */
const QUIET_CONTEXTS = new Set(['InstanceLoader', 'RouterExplorer', 'RoutesResolver', 'NestFactory']);

/**
 * Nest contexts that log errors before throwing them. Logged only at `debug`, because the code that catches the errors
 * logs them.
 */
const THROWN_CONTEXTS = new Set(['ExceptionHandler', 'NestApplication', 'NestFactory']);

/** Context of log lines about deliveries. They contain only ids, numbers and hosts, so they need no redaction. */
const DELIVERIES = 'delivery';

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/**
 * Returns the stream of this process's log lines: JSON lines, or readable lines on a terminal. The formatter of the
 * readable lines is loaded only for a terminal, because loading it takes 20 ms of CPU.
 */
export const logOutput = memoizeAsync(async (): Promise<DestinationStream> => {
  if (!process.stdout.isTTY) return pino.destination(process.stdout.fd);
  const { default: pretty } = await import('pino-pretty');
  return pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' });
});

export function createLogger(config: Config, destination: DestinationStream): Logger {
  // ioredis adds the arguments of the command to its errors. Those of AUTH contain the password.
  const paths = [
    'err.command.args',
    ...SECRET_FIELDS.flatMap((field) => ['', '*', '*.*'].map((above) => `${above}["${field}"]`)),
  ];
  return pino({ level: config.logLevel, redact: { paths, censor: '[secret]' }, base: null }, destination);
}

/**
 * Adapts the logger to Nest's interface. `destination` is the stream of the logger.
 *
 * In a log call, objects after the message become fields of the entry, an `Error` becomes `err`, and the last string
 * becomes `context`. Except at `debug`, the many errors of one PostgreSQL outage are logged as one line.
 */
export class PinoLogger implements LoggerService {
  /** Logger without redaction. Redaction takes a hundred microseconds per entry, more than a delivery. */
  private readonly plain: Logger;
  private readonly batched: BatchedLines;

  constructor(
    private readonly logger: Logger,
    destination: DestinationStream,
    private readonly outage: OutageLog | null = null,
  ) {
    this.batched = new BatchedLines(destination);
    this.plain = pino({ level: logger.level, base: { ...logger.bindings(), context: DELIVERIES } }, this.batched);
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write(QUIET_CONTEXTS.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write(THROWN_CONTEXTS.has(String(rest.at(-1))) ? 'debug' : 'error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(level: Level, message: unknown, rest: unknown[]): void {
    if (!this.logger.isLevelEnabled(level)) return;
    if (rest.length === 2 && rest[1] === DELIVERIES) {
      this.plain[level](rest[0] as object, String(message));
      return;
    }
    this.batched.flush();
    if ((level === 'warn' || level === 'error') && this.isOfOutage(message, rest)) return;
    const fields: Record<string, unknown> = {};
    const context = rest.at(-1);
    if (typeof context === 'string') fields['context'] = context;
    for (const part of rest.slice(0, typeof context === 'string' ? -1 : undefined)) addTo(fields, part);
    if (message instanceof Error) this.logger[level]({ ...fields, err: message }, message.message);
    else this.logger[level](fields, typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Returns whether a log entry belongs to a PostgreSQL outage, and logs each outage once. */
  private isOfOutage(message: unknown, rest: readonly unknown[]): boolean {
    if (this.outage === null || this.logger.isLevelEnabled('debug')) return false;
    const text = message instanceof Error ? message.message : message;
    if (typeof text !== 'string') return false;
    // Checks the message together with the error in the field `err`, because only this error contains the cause.
    const beside = (rest[0] as { err?: unknown } | undefined)?.err;
    const line = beside instanceof Error ? `${text}: ${beside.message}` : text;
    const reworded = this.outage.reworded(line);
    if (reworded === line) return false;
    if (reworded !== null) this.logger.error({ context: 'PostgreSQL' }, reworded);
    return true;
  }
}

export function outageLog({ databaseUrl }: Config): OutageLog {
  return new OutageLog(Number((URL.canParse(databaseUrl) && new URL(databaseUrl).port) || 5432), () =>
    performance.now(),
  );
}

/** Adds one argument of a log call to the fields. Nest passes a stack as a string, or undefined. */
function addTo(fields: Record<string, unknown>, part: unknown): void {
  if (part instanceof Error) fields['err'] = part;
  else if (typeof part === 'string') fields['stack'] = part;
  else if (typeof part === 'object' && part !== null) Object.assign(fields, part);
}
