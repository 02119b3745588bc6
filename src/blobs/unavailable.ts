import type { Logger } from '@nestjs/common';
import { type ApiError, unavailable } from '#kernel/errors.js';

/** Logs why a blob cannot be stored or removed now, and returns the 503 for it. */
export const unwritable = (cause: unknown, logger: Logger): ApiError =>
  refusal('The message store is not writable. Nothing was accepted, send it again.', cause, logger);

/** Logs why a blob cannot be read now, and returns the 503 for it. The blob may still exist. */
export const unreadable = (cause: unknown, logger: Logger): ApiError =>
  refusal('The message store cannot be read now. Try again later.', cause, logger);

/** Lines of a stack trace to log. During an outage, every call logs one. */
const STACK_LINES = 4;

function refusal(sentence: string, cause: unknown, logger: Logger): ApiError {
  logger.error(`The blob store failed: ${reasonOf(cause)}`);
  return Object.assign(unavailable(sentence), { cause });
}

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? cause.message).split('\n').slice(0, STACK_LINES).join('\n') : String(cause);
