import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DEDUPLICATION_SOURCES, WINDOW_HOURS } from '#engine/inbound/deduplication.js';
import { GENERIC_SCHEMES } from '#engine/inbound/generic.js';
import { RESPONSE_TYPES, type ResponseType } from '#engine/inbound/response.js';

const HOSTS = ['managed', 'url'] as const;
const UNAVAILABLE = ['fallback', 'error'] as const;
const FAIL_MODES = ['open', 'closed'] as const;
const CODE_LENGTH_MAX = 65_536;
const ANSWER_CODE = 'export default (request) => ({ status: 200, body: { ok: true } })';
const TRANSFORM_CODE =
  'export default (event, { secrets }) => event.body.test ? null : { ...event, body: { ...event.body, token: secrets.CRM_TOKEN } }';

/** Values of `verification`, besides the name of the endpoint's own preset. */
export const VERIFICATIONS = ['none', 'preset', ...GENERIC_SCHEMES] as const;

/**
 * Settings for senders without a preset, where they differ from the defaults. Each scheme accepts only its own
 * settings.
 */
export class VerificationConfig {
  /**
   * Header that carries the signature, key or token. Defaults to `x-signature`, for `api-key` to `x-api-key`, for `jwt`
   * to `authorization`.
   */
  @ApiProperty({ required: false, maxLength: 128, example: 'x-acme-signature' })
  header?: string;

  /** Text before the signature. If omitted, the name of the hash followed by `=` is also accepted. */
  @ApiProperty({ required: false, maxLength: 64, example: 'v1=' })
  prefix?: string;

  /** Encoding of the signature. If omitted, it is detected from the length of the signature. */
  @ApiProperty({ required: false, enum: ['hex', 'base64'], example: 'hex' })
  encoding?: 'hex' | 'base64';

  /** Encoding of the key in the secret. Defaults to `utf8`, the characters of the secret itself. */
  @ApiProperty({ required: false, enum: ['utf8', 'base64', 'hex', 'whsec'], example: 'utf8' })
  keyEncoding?: 'utf8' | 'base64' | 'hex' | 'whsec';

  /**
   * Header that carries the time of signing, in seconds or milliseconds since the epoch. If omitted, no time is
   * checked.
   */
  @ApiProperty({ required: false, maxLength: 128, example: 'x-acme-timestamp' })
  timestampHeader?: string;

  /** Maximum difference between the time of signing and now, in seconds. Defaults to 300. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 86_400, example: 300 })
  toleranceSeconds?: number;

  /**
   * Template of the signed content: `{{body}}`, `{{timestamp}}`, `{{method}}`, `{{url}}`, `{{headers.name}}` and
   * literal text.
   */
  @ApiProperty({ required: false, maxLength: 512, example: '{{timestamp}}.{{body}}' })
  signed?: string;

  /** Required for `jwt`: URL of the JSON Web Key Set that the sender publishes. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'https://issuer.example.com/.well-known/jwks.json' })
  jwksUrl?: string;

  /** For `jwt`: required value of `iss`. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 512, example: 'https://issuer.example.com' })
  issuer?: string;

  /**
   * For `jwt`: value that `aud` must equal or contain. Set at least one of `audience`, `issuer`, `claims` and
   * `bodyHashClaim`, because the same keys also sign tokens for others.
   */
  @ApiProperty({ required: false, minLength: 1, maxLength: 512, example: 'https://hooks.example.com/in/acme/orders' })
  audience?: string;

  /** For `jwt`: claims that the token must contain with exactly these values, at most 10. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { email: 'pusher@project.iam.gserviceaccount.com' },
  })
  claims?: Record<string, string>;

  /** For `jwt`: claim that holds the SHA-256 of the body, in hex or base64url. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 512, example: 'request_body_sha256' })
  bodyHashClaim?: string;

  /** For `jwt`: maximum age of a token without `exp`, in seconds. Defaults to 300. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 86_400, example: 300 })
  maxAgeSeconds?: number;
}

/** Source of the id by which duplicates are detected. A request with an id that was received before is a duplicate. */
export class DeduplicationConfig {
  /**
   * `provider_id`: the id that the preset's provider repeats when it resends. `header` or `body_path`: an id that your
   * own sender sets.
   */
  @ApiProperty({ enum: DEDUPLICATION_SOURCES, example: 'provider_id' })
  source: (typeof DEDUPLICATION_SOURCES)[number];

  /** Required for `header`: name of the header with the id. Headers that authenticate the sender are not allowed. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 128, example: 'x-event-id' })
  name?: string;

  /**
   * Required for `body_path`: JSONPath of the id in a JSON body of at most 128 KB. The syntax is the same as in
   * filters.
   */
  @ApiProperty({ required: false, minLength: 1, maxLength: 1024, example: '$.event.id' })
  path?: string;

  /**
   * Time in hours after the first request during which a request with the same id is a duplicate. It cannot exceed the
   * retention period of events.
   */
  @ApiProperty({
    required: false,
    type: 'integer',
    minimum: 1,
    maximum: 8_760,
    default: WINDOW_HOURS,
    example: WINDOW_HOURS,
  })
  window_hours?: number;
}

/** The response of a rule. */
export class RuleAnswer {
  /** Status code, 200 to 599. Defaults to 200. */
  @ApiProperty({ required: false, type: 'integer', minimum: 200, maximum: 599, example: 200 })
  status?: number;

  /**
   * Body, at most 64 KB. `{{body.path}}`, `{{query.name}}` and `{{headers.name}}` are replaced by values of the
   * request.
   */
  @ApiProperty({ required: false, maxLength: 65_536, example: '{"challenge": "{{body.challenge}}"}' })
  body?: string;

  /** Headers, at most 32. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'content-type': 'application/json' },
  })
  headers?: Record<string, string>;
}

/** A condition on requests and the response to requests that meet it. */
export class ResponseRule {
  /**
   * Condition: one of `all`, `any` (lists of conditions), `not` (a condition), or `{type, op, value}`. Some types also
   * need `name` or `path`. At most 8 levels of nesting and 64 `{type, op, value}` conditions.
   */
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { type: 'json', path: '$.type', op: 'eq', value: 'url_verification' },
  })
  when: Record<string, unknown>;

  /** Response to the request. */
  @ApiProperty({ type: RuleAnswer })
  respond: RuleAnswer;
}

/** Rules for synchronous responses. The first matching rule applies. */
export class ResponseRules {
  /** Rules in order of evaluation, at most 50. */
  @ApiProperty({ required: false, type: [ResponseRule], maxItems: 50 })
  rules?: ResponseRule[];

  /** Response if no rule matches. If omitted or `null`, the endpoint's own response is sent. */
  @ApiProperty({ required: false, type: RuleAnswer, nullable: true })
  default?: RuleAnswer | null;
}

/** Proxy that produces the synchronous response. */
export class ResponseProxyConfig {
  /** `managed` runs `code`, `url` sends the request to `url`. */
  @ApiProperty({ enum: HOSTS, example: 'managed' })
  target: (typeof HOSTS)[number];

  /**
   * For `managed`: JavaScript code, an ES module of at most 64 KB whose default export is a function of the request.
   */
  @ApiProperty({ required: false, maxLength: CODE_LENGTH_MAX, example: ANSWER_CODE })
  code?: string;

  /** For `url`: URL that receives the signed request. Its response is returned to the sender. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'https://example.com/answer' })
  url?: string;

  /**
   * Time limit in milliseconds. Defaults to 250 for `managed` and 3000 for `url`. For `managed` the limit counts CPU
   * time, and the call also ends when twice the limit plus two seconds of wall-clock time have passed.
   */
  @ApiProperty({ required: false, type: 'integer', minimum: 50, maximum: 5_000, example: 250 })
  timeoutMs?: number;

  /**
   * Behavior if the proxy does not respond in time: `fallback` continues with the rules and the default, `error`
   * responds with 502.
   */
  @ApiProperty({ required: false, enum: UNAVAILABLE, default: 'fallback', example: 'fallback' })
  onUnavailable?: (typeof UNAVAILABLE)[number];
}

/** Transform that changes events before they are routed. */
export class TransformConfig {
  /** `managed` runs `code`, `url` sends the body to `url`. */
  @ApiProperty({ enum: HOSTS, example: 'managed' })
  engine: (typeof HOSTS)[number];

  /**
   * For `managed`: JavaScript code, an ES module of at most 64 KB whose default export is `(event, {secrets}) => event
   * | null`.
   */
  @ApiProperty({ required: false, maxLength: CODE_LENGTH_MAX, example: TRANSFORM_CODE })
  code?: string;

  /** For `url`: URL that receives the signed body. The JSON in its response replaces the body. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'https://example.com/transform' })
  url?: string;

  /** Behavior if the transform fails: `closed` stores the event as `parked`, `open` delivers it unchanged. */
  @ApiProperty({ required: false, enum: FAIL_MODES, default: 'closed', example: 'closed' })
  failMode?: (typeof FAIL_MODES)[number];

  /**
   * Time limit in milliseconds. Defaults to 250 for `managed` and 3000 for `url`. For `managed` the limit counts CPU
   * time, and the call also ends when twice the limit plus two seconds of wall-clock time have passed.
   */
  @ApiProperty({ required: false, type: 'integer', minimum: 50, maximum: 5_000, example: 250 })
  timeoutMs?: number;
}

/** Response settings of the endpoint, without secrets. */
export class ResponseView {
  /** `static` gives every request the same response. The other types perform the handshake of a provider. */
  @ApiProperty({ enum: RESPONSE_TYPES, example: 'meta-challenge' })
  type: ResponseType;

  /** For `ebay-challenge`: the endpoint's URL as registered at eBay. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'https://hooks.example.com/in/acme/ebay' })
  endpointUrl?: string;

  /** Status code of the response to requests that are not a handshake, 200 to 599. Defaults to 200. */
  @ApiProperty({ required: false, type: 'integer', minimum: 200, maximum: 599, example: 200 })
  status?: number;

  /** Body of the response to requests that are not a handshake, at most 64 KB. */
  @ApiProperty({ required: false, maxLength: 65_536, example: 'ok' })
  body?: string;

  /** Headers of the response to requests that are not a handshake, at most 32. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'content-type': 'text/plain' },
  })
  headers?: Record<string, string>;
}

/**
 * Response settings of the endpoint. `verifyToken`, `secret` and `verificationToken` are stored encrypted and never
 * returned.
 */
export class ResponseConfig extends ResponseView {
  /** Required for `meta-challenge`: the verify token that was entered in Meta's console. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'a-token-of-your-own' })
  verifyToken?: string;

  /** For `zoom-challenge`, `x-crc` and `twitch-challenge`: the secret, if it differs from the endpoint's own secret. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'a-secret-of-the-provider' })
  secret?: string;

  /** Token of the provider. Required for `ebay-challenge`. For `slack-challenge`, the legacy token of the app. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'a-token-of-the-provider' })
  verificationToken?: string;
}
