import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { DEDUPLICATION_SOURCES, WINDOW_HOURS } from '#engine/inbound/deduplication.js';
import { GENERIC_SCHEMES } from '#engine/inbound/generic.js';
import { RESPONSE_TYPES, type ResponseType } from '#engine/inbound/response.js';
import { LIST_SEPARATORS } from '#engine/inbound/scheme.js';
import { CanBeOmitted, IsArrayOf, IsObjectOf, IsStringMap } from '#http/validation.js';

const HOSTS = ['managed', 'url'] as const;
const UNAVAILABLE = ['fallback', 'error'] as const;
const FAIL_MODES = ['open', 'closed'] as const;
const CODE_LENGTH_MAX = 65_536;
const ANSWER_CODE = 'export default (request) => ({ status: 200, body: { ok: true } })';
const TRANSFORM_CODE =
  'export default (event, { secrets }) => event.body.test ? null : { ...event, body: { ...event.body, token: secrets.CRM_TOKEN } }';

/** Values of `verification`. The name of the endpoint's own preset is also accepted. */
export const VERIFICATIONS = ['none', 'preset', ...GENERIC_SCHEMES] as const;

/**
 * Settings of the verification scheme, for senders without a preset. Omitted settings have their default values. Each
 * scheme accepts only its own settings.
 */
export class VerificationConfig {
  /**
   * Header that carries the signature, key or token. Defaults to `x-signature`, for `api-key` to `x-api-key`, and for
   * tokens (`jwt`, `jwt-hs256`, …) to `authorization`.
   */
  @ApiProperty({ example: 'x-acme-signature' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(128)
  header?: string;

  /**
   * For `api-key`: query parameter that carries the key, instead of a header. Posthorn hides its value like that of a
   * header with a credential.
   */
  @ApiProperty({ example: 'token' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 128)
  queryParameter?: string;

  /** Text before the signature, such as `v1=`. If omitted, the name of the hash followed by `=` is also accepted. */
  @ApiProperty({ example: 'v1=' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  prefix?: string;

  /** Encoding of the signature. If omitted, it is detected from the length of the signature. */
  @ApiProperty({ example: 'hex' })
  @CanBeOmitted()
  @IsIn(['hex', 'base64'])
  encoding?: 'hex' | 'base64';

  /** Encoding of the key in the secret. Defaults to `utf8`: the characters of the secret are the key. */
  @ApiProperty({ example: 'utf8' })
  @CanBeOmitted()
  @IsIn(['utf8', 'base64', 'hex', 'whsec'])
  keyEncoding?: 'utf8' | 'base64' | 'hex' | 'whsec';

  /**
   * Separator between the parts of the signature header. With `signatureField`, the header is like `t=…,v1=…`, and the
   * default is `,`. Without `signatureField`, each part is a signature, and without a separator, the whole header is one.
   */
  @ApiProperty({ example: ',' })
  @CanBeOmitted()
  @IsIn(LIST_SEPARATORS)
  separator?: (typeof LIST_SEPARATORS)[number];

  /** Name of the header's part that carries the signature. The part may occur several times. */
  @ApiProperty({ example: 'v1' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 32)
  signatureField?: string;

  /** Name of the header's part that carries the time of signing. Cannot be combined with `timestampHeader`. */
  @ApiProperty({ example: 't' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 32)
  timestampField?: string;

  /**
   * Header that carries the time of signing: seconds or milliseconds since the epoch, or a date and time (RFC 3339). If
   * neither this header nor `timestampField` is set, the time is not checked.
   */
  @ApiProperty({ example: 'x-acme-timestamp' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(128)
  timestampHeader?: string;

  /** Maximum difference between the time of signing and now, in seconds. Defaults to 300. */
  @ApiProperty({ example: 300 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(86_400)
  toleranceSeconds?: number;

  /**
   * Template of the signed content: `{{body}}`, `{{decompressedBody}}`, `{{timestamp}}`, `{{method}}`, `{{url}}`,
   * `{{headers.name}}`, `{{query.name}}` and literal text.
   */
  @ApiProperty({ example: '{{timestamp}}.{{body}}' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(512)
  signed?: string;

  /** Required for `jwt`: URL of the JSON Web Key Set that the sender publishes. */
  @ApiProperty({ example: 'https://issuer.example.com/.well-known/jwks.json' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  jwksUrl?: string;

  /** For tokens: required value of `iss`. */
  @ApiProperty({ example: 'https://issuer.example.com' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 512)
  issuer?: string;

  /**
   * For tokens: value that `aud` must equal or contain. `jwt` requires at least one of `audience`, `issuer`, `claims`
   * and `bodyHashClaim`, because the sender's keys also sign tokens for other receivers.
   */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/orders' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 512)
  audience?: string;

  /** For tokens: claims that the token must contain with exactly these values, at most 10. */
  @ApiProperty({ example: { email: 'pusher@project.iam.gserviceaccount.com' } })
  @CanBeOmitted()
  @IsStringMap()
  claims?: Record<string, string>;

  /** For tokens: claim that contains the SHA-256 of the body, in hex, base64 or base64url. */
  @ApiProperty({ example: 'request_body_sha256' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 512)
  bodyHashClaim?: string;

  /**
   * For tokens: maximum age of a token without `exp`, in seconds. Defaults to 300. If `bodyHashClaim` is set, there is
   * no default, and the token needs neither `exp` nor `iat`.
   */
  @ApiProperty({ example: 300 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(86_400)
  maxAgeSeconds?: number;
}

/**
 * Source of the id by which duplicates are detected. If two requests have the same id, the second one is a duplicate.
 */
export class DeduplicationConfig {
  /**
   * `provider_id`: the id that the provider of the preset repeats when it resends a request. `header` or `body_path`:
   * an id that your own sender sets.
   */
  @ApiProperty({ example: 'provider_id' })
  @IsIn(DEDUPLICATION_SOURCES)
  source: (typeof DEDUPLICATION_SOURCES)[number];

  /** Required for `header`: name of the header that contains the id. Headers with credentials are not allowed. */
  @ApiProperty({ example: 'x-event-id' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 128)
  name?: string;

  /**
   * Required for `body_path`: JSONPath of the id in a JSON body of at most 128 KB. The syntax is the same as in
   * filters.
   */
  @ApiProperty({ example: '$.event.id' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 1024)
  path?: string;

  /**
   * Number of hours after the first request in which a request with the same id is a duplicate. It cannot exceed the
   * retention period of events.
   */
  @ApiProperty({ default: WINDOW_HOURS, example: WINDOW_HOURS })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(8_760)
  window_hours?: number;
}

/** Response to requests that match a rule. */
export class RuleAnswer {
  /** Status code, 200 to 599. Defaults to 200. */
  @ApiProperty({ example: 200 })
  @CanBeOmitted()
  @IsInt()
  @Min(200)
  @Max(599)
  status?: number;

  /**
   * Body, at most 64 KB. `{{body.path}}`, `{{form.name}}`, `{{query.name}}` and `{{headers.name}}` are replaced by
   * values from the request.
   */
  @ApiProperty({ example: '{"challenge": "{{body.challenge}}"}' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(65_536)
  body?: string;

  /** Headers, at most 32. */
  @ApiProperty({ example: { 'content-type': 'application/json' } })
  @CanBeOmitted()
  @IsStringMap()
  headers?: Record<string, string>;
}

/** A rule: a condition on requests, and the response to requests that meet the condition. */
export class ResponseRule {
  /**
   * Condition: one of `all`, `any` (lists of conditions), `not` (a condition), or `{type, op, value}`. Some types also
   * need `name` or `path`. At most 8 levels of nesting and 64 conditions with `type`.
   */
  @ApiProperty({ example: { type: 'json', path: '$.type', op: 'eq', value: 'url_verification' } })
  @IsObject()
  when: Record<string, unknown>;

  /** Response to the request. */
  @IsObjectOf(() => RuleAnswer)
  respond: RuleAnswer;
}

/** Rules for synchronous responses. The first matching rule applies. */
export class ResponseRules {
  /** Rules in the order of evaluation, at most 50. */
  @CanBeOmitted()
  @IsArrayOf(() => ResponseRule)
  @ArrayMaxSize(50)
  rules?: ResponseRule[];

  /** Response if no rule matches. If omitted or `null`, the endpoint's own response is sent. */
  @IsOptional()
  @IsObjectOf(() => RuleAnswer)
  default?: RuleAnswer | null;
}

/** Proxy that produces the synchronous response. */
export class ResponseProxyConfig {
  /** Source of the response: the JavaScript in `code` (`managed`), or your service at the URL (`url`). */
  @ApiProperty({ example: 'managed' })
  @IsIn(HOSTS)
  target: (typeof HOSTS)[number];

  /**
   * For `managed`: JavaScript code, an ES module of at most 64 KB whose default export is a function of the request.
   */
  @ApiProperty({ example: ANSWER_CODE })
  @CanBeOmitted()
  @IsString()
  @MaxLength(CODE_LENGTH_MAX)
  code?: string;

  /** For `url`: URL that receives the signed request. Its response is returned to the sender. */
  @ApiProperty({ example: 'https://example.com/answer' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  url?: string;

  /**
   * Time limit in milliseconds. Defaults to 250 for `managed` and 3000 for `url`. For `managed`, this is CPU time, and
   * the call also ends after twice the limit plus two seconds of wall-clock time.
   */
  @ApiProperty({ example: 250 })
  @CanBeOmitted()
  @IsInt()
  @Min(50)
  @Max(5_000)
  timeoutMs?: number;

  /**
   * Behavior if the proxy does not respond in time: `fallback` continues with the rules and then the default response,
   * `error` responds with 502.
   */
  @ApiProperty({ default: 'fallback', example: 'fallback' })
  @CanBeOmitted()
  @IsIn(UNAVAILABLE)
  onUnavailable?: (typeof UNAVAILABLE)[number];
}

/** Transform that changes events before they are routed. */
export class TransformConfig {
  /** Place where the body is transformed: the JavaScript in `code` (`managed`), or your service at the URL (`url`). */
  @ApiProperty({ example: 'managed' })
  @IsIn(HOSTS)
  engine: (typeof HOSTS)[number];

  /**
   * For `managed`: JavaScript code, an ES module of at most 64 KB whose default export is `(event, {secrets}) => event
   * | null`.
   */
  @ApiProperty({ example: TRANSFORM_CODE })
  @CanBeOmitted()
  @IsString()
  @MaxLength(CODE_LENGTH_MAX)
  code?: string;

  /** For `url`: URL that receives the signed body. The JSON in its response replaces the body. */
  @ApiProperty({ example: 'https://example.com/transform' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  url?: string;

  /** Behavior if the transform fails: `closed` stores the event as `parked`, `open` delivers the unchanged event. */
  @ApiProperty({ default: 'closed', example: 'closed' })
  @CanBeOmitted()
  @IsIn(FAIL_MODES)
  failMode?: (typeof FAIL_MODES)[number];

  /**
   * Time limit in milliseconds. Defaults to 250 for `managed` and 3000 for `url`. For `managed`, this is CPU time, and
   * the call also ends after twice the limit plus two seconds of wall-clock time.
   */
  @ApiProperty({ example: 250 })
  @CanBeOmitted()
  @IsInt()
  @Min(50)
  @Max(5_000)
  timeoutMs?: number;
}

/** Response settings of the endpoint, without secrets. */
export class ResponseView {
  /** `static` sends the same response to every request. The other types answer the handshake of a provider. */
  @ApiProperty({ example: 'meta-challenge' })
  @IsIn(RESPONSE_TYPES)
  type: ResponseType;

  /** Required for `ebay-challenge`: the endpoint's URL as registered with eBay. */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/ebay' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  endpointUrl?: string;

  /** Status code of the response to requests that are not a handshake, 200 to 599. Defaults to 200. */
  @ApiProperty({ example: 200 })
  @CanBeOmitted()
  @IsInt()
  @Min(200)
  @Max(599)
  status?: number;

  /** Body of the response to requests that are not a handshake, at most 64 KB. */
  @ApiProperty({ example: 'ok' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(65_536)
  body?: string;

  /** Headers of the response to requests that are not a handshake, at most 32. */
  @ApiProperty({ example: { 'content-type': 'text/plain' } })
  @CanBeOmitted()
  @IsStringMap()
  headers?: Record<string, string>;
}

/**
 * Response settings of the endpoint. `verifyToken`, `secret` and `verificationToken` are stored encrypted and never
 * returned.
 */
export class ResponseConfig extends ResponseView {
  /** Required for `meta-challenge`: the verify token that was entered in Meta's console. */
  @ApiProperty({ example: 'a-token-of-your-own' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  verifyToken?: string;

  /** For `zoom-challenge`, `x-crc` and `twitch-challenge`: the secret, if it differs from the endpoint's own secret. */
  @ApiProperty({ example: 'a-secret-of-the-provider' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  secret?: string;

  /** Token of the provider. Required for `ebay-challenge`. For `slack-challenge`, the legacy token of the app. */
  @ApiProperty({ example: 'a-token-of-the-provider' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  verificationToken?: string;
}
