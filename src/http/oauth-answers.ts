import { applyDecorators, Header } from '@nestjs/common';
import { ApiError } from '#kernel/errors.js';
import { statusOf } from './envelope.js';
import { withRouteConfig } from './route-config.js';

/** Error codes of RFC 6749 (sections 4.1.2.1 and 5.2), RFC 7591, RFC 8628 and RFC 8707 that Posthorn uses. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'access_denied'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token';

/**
 * Headers that allow pages of any origin to read a response. Use them only for responses that do not depend on a
 * cookie.
 */
export const ANY_ORIGIN = { 'access-control-allow-origin': '*' } as const;

/** Marks a route for OAuth clients: errors have the form of RFC 6749, section 5.2, and responses are not cacheable. */
export const AnswersOAuth = (): MethodDecorator =>
  applyDecorators(
    withRouteConfig({ access: 'public', oauth: true }),
    Header('cache-control', 'no-store'),
    Header('pragma', 'no-cache'),
    Header('access-control-allow-origin', '*'),
  );

/** Creates an error with 401 for an invalid client and with 400 for every other code. */
export function oauthError(code: OAuthErrorCode, description: string): ApiError {
  return new ApiError(code === 'invalid_client' ? 'unauthenticated' : 'bad_request', description, { oauth: code });
}

export function oauthAnswerOf(error: ApiError): { status: number; headers: Record<string, string>; body: string } {
  const headers = { ...ANY_ORIGIN, 'cache-control': 'no-store', pragma: 'no-cache' };
  // RFC 6749 and RFC 7591 require 400 for a malformed request, which includes an unsupported media type of the body.
  const isMalformed = error.type === 'unsupported_media_type' || error.type === 'validation_failed';
  const status = isMalformed ? 400 : statusOf(error);
  return { status, headers, body: JSON.stringify({ error: codeOf(error), error_description: descriptionOf(error) }) };
}

function codeOf({ type, details }: ApiError): string {
  if (typeof details['oauth'] === 'string') return details['oauth'];
  if (type === 'internal') return 'server_error';
  // Only the registration of a client has a JSON body, in which a field can be invalid (RFC 7591, section 3.2.2).
  if (type === 'validation_failed') return 'invalid_client_metadata';
  return type === 'rate_limited' || type === 'unavailable' ? 'temporarily_unavailable' : 'invalid_request';
}

/** Returns the message without characters that RFC 6749, section 5.2, forbids: quotes, backslashes, non-ASCII. */
const descriptionOf = ({ message }: ApiError): string => message.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, "'");
