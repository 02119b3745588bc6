import { ApiError, type ErrorType } from '#kernel/errors.js';
import type { SmtpAnswer } from '#modules/inbox/contract.js';
import { FAILED } from './port-listener.js';

type Codes = Pick<SmtpAnswer, 'code' | 'enhanced'>;

const LATER: Codes = { code: 451, enhanced: '4.3.0' };
const POLICY: Codes = { code: 550, enhanced: '5.7.1' };
const CONTENT: Codes = { code: 554, enhanced: '5.6.0' };

const CODES: Partial<Record<ErrorType, Codes>> = {
  bad_request: CONTENT,
  validation_failed: CONTENT,
  payload_too_large: { code: 552, enhanced: '5.3.4' },
  unauthenticated: { code: 535, enhanced: '5.7.8' },
  insufficient_scope: POLICY,
  forbidden: POLICY,
  not_found: POLICY,
  rate_limited: { code: 451, enhanced: '4.7.0' },
  unavailable: LATER,
};

/** Returns the reply to MAIL or to a message if the API throws `error`. Its text is the error's message. */
export function messageReply(error: unknown): SmtpAnswer {
  if (!(error instanceof ApiError)) return FAILED;
  return { ...messageCodes(error), text: error.message };
}

/** Returns the reply to a login if the API throws `error` (RFC 4954, section 6). */
export function loginReply(error: unknown): SmtpAnswer {
  if (!(error instanceof ApiError)) return { ...FAILED, code: 454, enhanced: '4.7.0' };
  const isPermanent = error.type === 'unauthenticated' || error.type === 'insufficient_scope';
  return isPermanent
    ? { code: 535, enhanced: '5.7.8', text: error.message }
    : { code: 454, enhanced: '4.7.0', text: error.message };
}

function messageCodes({ type, details }: ApiError): Codes {
  if (type === 'conflict') return details['reason'] === 'in_flight' ? LATER : CONTENT;
  if (type === 'validation_failed' && (details['check'] === 'policy' || details['reason'] !== undefined)) return POLICY;
  return CODES[type] ?? LATER;
}
