import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '#kernel/config.js';

/** Field names whose values never reach a log, at the top of an entry and in two levels of objects below. */
const SECRET_FIELDS = [
  'authorization', 'cookie', 'set-cookie', 'secret', 'secrets', 'credentials', 'password', 'token', 'key', 'apiKey', 'api_key',
  'masterKey', 'signingKeys', 'webhook-signature',
];

/** What Nest tells at start about every module and route: of interest only to whoever looks for it. */
const QUIET_CONTEXTS = new Set(['InstanceLoader', 'RouterExplorer', 'RoutesResolver', 'NestFactory']);

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** The process's logger: JSON lines, or readable ones when somebody is looking (`isTty`). */
export function createLogger(config: Config, isTty: boolean, destination?: DestinationStream): Logger {
  const paths = SECRET_FIELDS.flatMap((field) => ['', '*', '*.*'].map((above) => `${above}["${field}"]`));
  const options = { level: config.logLevel, redact: { paths, censor: '[secret]' }, base: null };
  if (destination) return pino(options, destination);
  return isTty ? pino(options, pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' })) : pino(options);
}

/**
 * Nest's logger on top of it. Objects behind the message become fields of the entry, an `Error` its `err`, the last
 * string its `context`.
 */
export class PinoLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(QUIET_CONTEXTS.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
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
    const fields: Record<string, unknown> = {};
    const context = rest.at(-1);
    if (typeof context === 'string') fields['context'] = context;
    for (const part of rest.slice(0, typeof context === 'string' ? -1 : undefined)) addTo(fields, part);
    if (message instanceof Error) this.logger[level]({ ...fields, err: message }, message.message);
    else this.logger[level](fields, typeof message === 'string' ? message : JSON.stringify(message));
  }
}

/** Nest hands over stacks as strings and sometimes an undefined where one would be. */
function addTo(fields: Record<string, unknown>, part: unknown): void {
  if (part instanceof Error) fields['err'] = part;
  else if (typeof part === 'string') fields['stack'] = part;
  else if (typeof part === 'object' && part !== null) Object.assign(fields, part);
}
