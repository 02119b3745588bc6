import type { HttpException } from '@nestjs/common';
import { ApiError, type ErrorType, type Fault } from '#kernel/errors.js';
import { FAULTS_MAX } from './faults.js';

/**
 * Error types for the statuses of Nest's exceptions. A status without its own error type in `docs/errors.md` maps to
 * the closest one. A 4xx status that is not listed here becomes `bad_request`, and any other one `internal`.
 */
const TYPES: Readonly<Record<number, ErrorType>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  410: 'not_found',
  412: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'validation_failed',
  429: 'rate_limited',
  501: 'not_implemented',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/**
 * Statuses for which a list of messages in an exception is treated as validation faults. `ValidationPipe` uses both 400
 * and 422.
 */
const VALIDATION_STATUSES: ReadonlySet<number> = new Set([400, 422]);

/** Fields that Nest sets in the response object of an exception. All other fields are returned in `details`. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['message', 'error', 'statusCode']);

/**
 * The part of class-validator's `ValidationError` that this file uses. An `exceptionFactory` may return such errors.
 */
interface PropertyError {
  property: string;
  constraints?: Record<string, string>;
  children?: unknown[];
}

/**
 * Converts a Nest exception that an extension throws. Keeps its message, or the fields of the object that it was
 * created with. A list of messages becomes `validation_failed` with one fault per message. Returns null for an
 * unexpected error, whose message must only be logged.
 */
export function fromHttpException(exception: HttpException): ApiError | null {
  const status = exception.getStatus();
  const type = TYPES[status] ?? (status >= 400 && status < 500 ? 'bad_request' : 'internal');
  if (type === 'internal') return null;
  const response: unknown = exception.getResponse();
  const body = typeof response === 'object' && response !== null ? (response as Record<string, unknown>) : {};
  const details = Object.fromEntries(Object.entries(body).filter(([name]) => !OWN_FIELDS.has(name)));
  const faults = faultsIn(body['message']);
  if (faults.length > 0 && VALIDATION_STATUSES.has(status)) return invalid(faults, details);
  const sentence = faults.length > 0 ? faults.map(({ message }) => message).join(' ') : sentenceOf(exception, body);
  return type === 'validation_failed'
    ? invalid([{ path: '', message: sentence }], details)
    : new ApiError(type, sentence, details);
}

function invalid(faults: readonly Fault[], details: Record<string, unknown>): ApiError {
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more, see details.fields)` : '';
  return new ApiError('validation_failed', `${faults[0]?.message}${more}`, {
    ...details,
    check: 'schema',
    fields: faults.slice(0, FAULTS_MAX),
  });
}

/**
 * Returns the exception's message, or the field `error` of a response object without `message`. Nest's message for such
 * an object is only the name of the class.
 */
function sentenceOf({ message }: HttpException, body: Record<string, unknown>): string {
  return typeof body['message'] !== 'string' && typeof body['error'] === 'string' ? body['error'] : message;
}

/**
 * Returns one fault for each message. `message` is a list of messages, or one of the two other forms of
 * `ValidationPipe`: messages by path (`errorFormat: 'grouped'`), or class-validator's errors (`exceptionFactory:
 * (errors) => new …Exception(errors)`).
 */
function faultsIn(message: unknown): Fault[] {
  if (Array.isArray(message))
    return message.flatMap((each: unknown) =>
      isPropertyError(each) ? faultsOfProperty(each, '') : [{ path: pathIn(String(each)), message: String(each) }],
    );
  if (typeof message !== 'object' || message === null) return [];
  return Object.entries(message).flatMap(([path, sentences]) =>
    [sentences as unknown].flat().map((sentence) => ({ path, message: String(sentence) })),
  );
}

function isPropertyError(each: unknown): each is PropertyError {
  return typeof each === 'object' && each !== null && typeof (each as Partial<PropertyError>).property === 'string';
}

function faultsOfProperty({ property, constraints = {}, children = [] }: PropertyError, parent: string): Fault[] {
  const path = `${parent}${property}`;
  return [
    ...Object.values(constraints).map((message) => ({ path, message })),
    ...children.filter(isPropertyError).flatMap((child) => faultsOfProperty(child, `${path}.`)),
  ];
}

/**
 * Matches messages of class-validator that start with the name of the property, for example `email must be an email` or
 * `property admin should not exist`. Nest adds the path of the parent object, as in `address.each value in lines must
 * be a string`. Excludes messages with a full stop, which are handwritten and may start with any word.
 */
const NAMED =
  /^(?!.*\.$)(?<parent>(?:[\w$-]+\.)*)(?:each value in )?(?:nested property |property |All )?(?<name>[\w$-]+)(?:'s elements)? (?:must|should) /;

/** Returns the path of the field that a message is about, or an empty path if the message does not match `NAMED`. */
function pathIn(sentence: string): string {
  const { parent = '', name = '' } = NAMED.exec(sentence)?.groups ?? {};
  return `${parent}${name}`;
}
