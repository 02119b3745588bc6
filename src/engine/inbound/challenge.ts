import { createHash, createHmac } from 'node:crypto';
import { isObject, jsonOf, memberOf } from './body.js';
import { equalText } from './keys.js';
import type { Preset } from './preset.js';
import { PRESETS } from './presets.js';
import { headerOf, type ReceivedRequest, type SynchronousAnswer, type Verification } from './request.js';
import type { ResponseSettings, ResponseType } from './response.js';
import { snsConfirmUrl } from './sns.js';
import { verify } from './verify.js';

export interface HandshakeContext {
  verification: Verification;
  hasSecret: boolean;
  /**
   * Secrets of the endpoint, newest first. A handshake uses them if it needs a secret and its settings contain none.
   */
  secrets?: readonly string[];
}

export interface Handshake {
  answer: SynchronousAnswer;
  newSecret?: string;
  /** URL on an AWS host, to be fetched once with GET to confirm a subscription. */
  confirmUrl?: string;
}

type Received = Omit<ReceivedRequest, 'ip'>;
type Answerer = (settings: ResponseSettings, request: Received, context: HandshakeContext) => Handshake | null;

/** Pattern of texts that may be echoed to the sender: printable and short. */
const ECHO = /^[\x20-\x7e]{1,1024}$/;
/**
 * Pattern of texts that a handshake may sign with the provider's secret. The sender of the handshake chooses the text,
 * and the signature must not be valid for an event. Colons, braces and quotes are excluded, because X signs the JSON
 * body of an event, and Zoom signs `v0:…:` and the body.
 */
const SIGNABLE = /^[A-Za-z0-9._~+/=-]{1,1024}$/;
const NOSNIFF = { 'x-content-type-options': 'nosniff' };

/**
 * Answers the request with which a provider checks a URL before it saves the URL. Returns null for any other request.
 */
export function urlCheck(
  preset: Pick<Preset, 'urlCheck'> | null,
  { method, body }: Received,
): SynchronousAnswer | null {
  const isAsked = preset?.urlCheck?.some((known) => known === method) === true && body.length === 0;
  return isAsked ? { status: 200, headers: { ...NOSNIFF }, body: '' } : null;
}

/** Answers a handshake. Returns null if the request is not a handshake and should be processed as an event. */
export function challenge(settings: ResponseSettings, request: Received, context: HandshakeContext): Handshake | null {
  return ANSWERERS[settings.type](settings, request, context);
}

const ANSWERERS: Readonly<Record<ResponseType, Answerer>> = {
  static: () => null,

  'meta-challenge': ({ verifyToken }, request) => {
    if (request.method !== 'GET' || queryOf(request, 'hub.mode') !== 'subscribe') return null;
    const isKnown = verifyToken !== undefined && equalText(queryOf(request, 'hub.verify_token') ?? '', verifyToken);
    return isKnown
      ? echo(queryOf(request, 'hub.challenge') ?? '')
      : refuse(403, 'The verify token does not match the configured token.');
  },

  'slack-challenge': ({ verificationToken }, request, context) => {
    if (request.method !== 'POST' || memberText(request, 'type') !== 'url_verification' || isForged(context))
      return null;
    const isKnown = verificationToken === undefined || equalText(memberText(request, 'token') ?? '', verificationToken);
    return isKnown
      ? echo(memberText(request, 'challenge') ?? '')
      : refuse(403, 'The verification token does not match the configured token.');
  },

  'zoom-challenge': (settings, request, context) => {
    if (request.method !== 'POST' || memberText(request, 'event') !== 'endpoint.url_validation') return null;
    return answerWithSecret(
      settings,
      context,
      memberText(request, 'payload.plainToken') ?? '',
      (plainToken, secret) => ({
        plainToken,
        encryptedToken: createHmac('sha256', secret).update(plainToken).digest('hex'),
      }),
    );
  },

  'x-crc': (settings, request, context) => {
    const token = request.method === 'GET' ? queryOf(request, 'crc_token') : null;
    if (token === null) return null;
    return answerWithSecret(settings, context, token, (text, secret) => ({
      response_token: `sha256=${createHmac('sha256', secret).update(text).digest('base64')}`,
    }));
  },

  'ebay-challenge': ({ verificationToken, endpointUrl }, request) => {
    const code = request.method === 'GET' ? queryOf(request, 'challenge_code') : null;
    if (code === null) return null;
    if (verificationToken === undefined || endpointUrl === undefined)
      return refuse(403, 'No verification token is configured.');
    if (!ECHO.test(code)) return unprintable();
    return jsonAnswer({
      challengeResponse: createHash('sha256')
        .update(code + verificationToken + endpointUrl)
        .digest('hex'),
    });
  },

  'dropbox-challenge': (_settings, request) => {
    const text = request.method === 'GET' ? queryOf(request, 'challenge') : null;
    return text === null ? null : echo(text);
  },

  'msgraph-challenge': (_settings, request) => {
    const token = request.method === 'POST' ? queryOf(request, 'validationToken') : null;
    return token === null ? null : echo(token);
  },

  'okta-challenge': (_settings, request) => {
    const value = request.method === 'GET' ? headerOf(request, 'x-okta-verification-challenge') : undefined;
    if (value === undefined) return null;
    return ECHO.test(value) ? jsonAnswer({ verification: value }) : unprintable();
  },

  'asana-handshake': (_settings, request, { hasSecret }) => {
    const secret = request.method === 'POST' ? headerOf(request, 'x-hook-secret') : undefined;
    if (secret === undefined) return null;
    // Rejects a new secret if one exists: anyone could otherwise replace Asana's secret.
    if (hasSecret) return refuse(403, 'This endpoint has a secret already.');
    if (!ECHO.test(secret)) return unprintable();
    return { answer: { status: 200, headers: { 'x-hook-secret': secret, ...NOSNIFF }, body: '' }, newSecret: secret };
  },

  // A ping of an interaction has type 1 and expects the type in the response. A ping of a webhook event has type 0 and
  // expects an empty response. A webhook event of type 1 is not a ping.
  'discord-ping': (_settings, request, { verification }) => {
    const json = jsonOf(request);
    const type =
      request.method === 'POST' && memberOf(json, 'event') === undefined ? memberOf(json, 'type') : undefined;
    if (verification !== 'verified' || (type !== 0 && type !== 1)) return null;
    return type === 1 ? jsonAnswer({ type }) : { answer: { status: 204, headers: {}, body: '' } };
  },

  'twitch-challenge': ({ secret }, request, context) => {
    if (headerOf(request, 'twitch-eventsub-message-type') !== 'webhook_callback_verification' || isForged(context))
      return null;
    const isKnown = secret === undefined || isSignedByTwitch(request, secret);
    return isKnown
      ? echo(memberText(request, 'challenge') ?? '')
      : refuse(403, 'The signature was not made with the configured secret.');
  },

  'sns-confirm': (_settings, request, { verification }) => {
    const isConfirmation =
      headerOf(request, 'x-amz-sns-message-type') === 'SubscriptionConfirmation' &&
      memberText(request, 'Type') === 'SubscriptionConfirmation';
    if (!isConfirmation || verification !== 'verified') return null;
    const confirmUrl = snsConfirmUrl(request);
    if (confirmUrl === null) return refuse(400, 'The SubscribeURL is not on a host of Amazon SNS.');
    return { answer: { status: 200, headers: { ...NOSNIFF }, body: '' }, confirmUrl };
  },

  // Accepts only a body without other members, so that no event is mistaken for a challenge.
  'monday-challenge': (_settings, request) => {
    const json = request.method === 'POST' ? jsonOf(request) : undefined;
    if (!isObject(json) || Object.keys(json).join() !== 'challenge' || typeof json['challenge'] !== 'string')
      return null;
    const { challenge: text } = json;
    return ECHO.test(text) ? jsonAnswer({ challenge: text }) : unprintable();
  },
};

/**
 * Returns whether a secret is set and verification failed. Handshakes ignore such a request, and other code rejects it.
 */
function isForged({ verification, hasSecret }: HandshakeContext): boolean {
  return hasSecret && verification === 'failed';
}

/** Returns whether Twitch signed the request. Ignores the age of the signature, which is checked elsewhere. */
function isSignedByTwitch(request: Received, secret: string): boolean {
  const scheme = PRESETS.get('twitch')?.verify;
  if (scheme?.kind !== 'hmac' || scheme.timestamp === undefined) return false;
  return (
    verify({ ...scheme, timestamp: { ...scheme.timestamp, toleranceSeconds: null } }, request, [secret], 0) ===
    'verified'
  );
}

function answerWithSecret(
  settings: ResponseSettings,
  context: HandshakeContext,
  token: string,
  compute: (token: string, secret: string) => Readonly<Record<string, string>>,
): Handshake {
  const secret = settings.secret ?? context.secrets?.[0];
  if (secret === undefined || secret === '') return refuse(403, 'No secret is configured.');
  return SIGNABLE.test(token)
    ? jsonAnswer(compute(token, secret))
    : refuse(400, 'The token must be 1 to 1024 letters, digits or ._~+/=- characters.');
}

function echo(text: string): Handshake {
  return ECHO.test(text) ? plain(200, text) : unprintable();
}

function unprintable(): Handshake {
  return refuse(400, 'The challenge must be 1 to 1024 printable ASCII characters.');
}

function refuse(status: number, message: string): Handshake {
  return plain(status, message);
}

function plain(status: number, body: string): Handshake {
  return { answer: { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...NOSNIFF }, body } };
}

function jsonAnswer(value: Readonly<Record<string, unknown>>): Handshake {
  return {
    answer: { status: 200, headers: { 'content-type': 'application/json', ...NOSNIFF }, body: JSON.stringify(value) },
  };
}

function queryOf(request: Received, name: string): string | null {
  return new URLSearchParams(request.query).get(name);
}

function memberText(request: Received, path: string): string | undefined {
  const value = memberOf(jsonOf(request), path);
  return typeof value === 'string' ? value : undefined;
}
