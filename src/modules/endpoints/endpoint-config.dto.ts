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

/** The values of `verification` beside the name of the endpoint's own preset. */
export const VERIFICATIONS = ['none', 'preset', ...GENERIC_SCHEMES] as const;

/** How a sender without a preset proves itself, where it differs from the defaults. Each scheme takes the settings that are its own. */
export class VerificationConfig {
  /** The header with the signature, key or token; `x-signature` when left out, `x-api-key` of `api-key`, `authorization` of `jwt`. */
  @ApiProperty({ required: false, maxLength: 128, example: 'x-acme-signature' })
  header?: string;

  /** What stands before the signature. When left out, the name of the hash and `=` may stand there. */
  @ApiProperty({ required: false, maxLength: 64, example: 'v1=' })
  prefix?: string;

  /** How the signature is written; told apart by its length when left out. */
  @ApiProperty({ required: false, enum: ['hex', 'base64'], example: 'hex' })
  encoding?: 'hex' | 'base64';

  /** How the key stands in the secret: `utf8` (its own characters) when left out. */
  @ApiProperty({ required: false, enum: ['utf8', 'base64', 'hex', 'whsec'], example: 'utf8' })
  keyEncoding?: 'utf8' | 'base64' | 'hex' | 'whsec';

  /** The header with the time of signing, in seconds or milliseconds since the epoch; none when left out. */
  @ApiProperty({ required: false, maxLength: 128, example: 'x-acme-timestamp' })
  timestampHeader?: string;

  /** How far that time may be from now, in seconds; 300 when left out. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 86_400, example: 300 })
  toleranceSeconds?: number;

  /** What is signed: `{{body}}`, `{{timestamp}}`, `{{method}}`, `{{url}}`, `{{headers.name}}` and text between them. */
  @ApiProperty({ required: false, maxLength: 512, example: '{{timestamp}}.{{body}}' })
  signed?: string;

  /** Of `jwt`, which needs it: where the sender publishes its keys, a JSON Web Key Set. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'https://issuer.example.com/.well-known/jwks.json' })
  jwksUrl?: string;

  /** Of `jwt`: what `iss` must be. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 512, example: 'https://issuer.example.com' })
  issuer?: string;

  /** Of `jwt`: what `aud` must be or hold. Give it, `issuer`, `claims` or `bodyHashClaim`: others have tokens by the same keys. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 512, example: 'https://hooks.example.com/in/acme/orders' })
  audience?: string;

  /** Of `jwt`: members that the token must have, with these texts; at most 10. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { email: 'pusher@project.iam.gserviceaccount.com' },
  })
  claims?: Record<string, string>;

  /** Of `jwt`: the member that holds the SHA-256 of the body, in hex or base64url. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 512, example: 'request_body_sha256' })
  bodyHashClaim?: string;

  /** Of `jwt`: how old a token may be that has no `exp`, in seconds; 300 when left out. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 86_400, example: 300 })
  maxAgeSeconds?: number;
}

/** What a repeat is told by: a request with an id that came before. */
export class DeduplicationConfig {
  /** `provider_id`: the id that the preset's provider repeats when it sends again. `header` or `body_path`: one of your own sender's. */
  @ApiProperty({ enum: DEDUPLICATION_SOURCES, example: 'provider_id' })
  source: (typeof DEDUPLICATION_SOURCES)[number];

  /** Of `header`, which needs it: the header with the id; none that authenticates. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 128, example: 'x-event-id' })
  name?: string;

  /** Of `body_path`, which needs it: where the id stands in a JSON body of at most 128 KB, as a JSONPath like those of filters. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 1024, example: '$.event.id' })
  path?: string;

  /** How long after the first one a request with its id is a repeat, in hours: at most as long as events are kept. */
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

/** An answer that a rule gives. */
export class RuleAnswer {
  /** The status, 200 to 599; 200 when left out. */
  @ApiProperty({ required: false, type: 'integer', minimum: 200, maximum: 599, example: 200 })
  status?: number;

  /** The body, at most 64 KB; `{{body.path}}`, `{{query.name}}` and `{{headers.name}}` are filled in. */
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

/** What to answer to which requests. */
export class ResponseRule {
  /**
   * A condition: one of `all`, `any` (lists of conditions), `not` (a condition), or `{type, op, value}` with `name` or
   * `path` where the type has one; at most 8 levels and 64 leaves.
   */
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { type: 'json', path: '$.type', op: 'eq', value: 'url_verification' },
  })
  when: Record<string, unknown>;

  /** The answer. */
  @ApiProperty({ type: RuleAnswer })
  respond: RuleAnswer;
}

/** Synchronous answers by rules: the first rule that matches wins. */
export class ResponseRules {
  /** The rules in their order, at most 50. */
  @ApiProperty({ required: false, type: [ResponseRule], maxItems: 50 })
  rules?: ResponseRule[];

  /** The answer when no rule matches; left out or null for the endpoint's own. */
  @ApiProperty({ required: false, type: RuleAnswer, nullable: true })
  default?: RuleAnswer | null;
}

/** Whom to ask for the synchronous answer. */
export class ResponseProxyConfig {
  /** `managed` runs `code`, `url` asks `url`. */
  @ApiProperty({ enum: HOSTS, example: 'managed' })
  target: (typeof HOSTS)[number];

  /** For `managed`: JavaScript, an ES module of at most 64 KB whose default export is a function of the request. */
  @ApiProperty({ required: false, maxLength: CODE_LENGTH_MAX, example: ANSWER_CODE })
  code?: string;

  /** For `url`: where the request is sent, signed; its answer is passed on. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'https://example.com/answer' })
  url?: string;

  /** How long to wait, in milliseconds; 250 for `managed` and 3000 for `url` when left out. For `managed` it is CPU time, and the call ends after twice as long and two seconds by the clock. */
  @ApiProperty({ required: false, type: 'integer', minimum: 50, maximum: 5_000, example: 250 })
  timeoutMs?: number;

  /** Without an answer in time: `fallback` goes on to the rules and the default, `error` answers 502. */
  @ApiProperty({ required: false, enum: UNAVAILABLE, default: 'fallback', example: 'fallback' })
  onUnavailable?: (typeof UNAVAILABLE)[number];
}

/** What changes events before they are routed. */
export class TransformConfig {
  /** `managed` runs `code`, `url` asks `url`. */
  @ApiProperty({ enum: HOSTS, example: 'managed' })
  engine: (typeof HOSTS)[number];

  /** For `managed`: JavaScript, an ES module of at most 64 KB whose default export is `(event, {secrets}) => event | null`. */
  @ApiProperty({ required: false, maxLength: CODE_LENGTH_MAX, example: TRANSFORM_CODE })
  code?: string;

  /** For `url`: where the body is sent, signed; the JSON answer replaces it. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'https://example.com/transform' })
  url?: string;

  /** When it fails: `closed` parks the event, `open` delivers it as it came. */
  @ApiProperty({ required: false, enum: FAIL_MODES, default: 'closed', example: 'closed' })
  failMode?: (typeof FAIL_MODES)[number];

  /** How long to wait, in milliseconds; 250 for `managed` and 3000 for `url` when left out. For `managed` it is CPU time, and the call ends after twice as long and two seconds by the clock. */
  @ApiProperty({ required: false, type: 'integer', minimum: 50, maximum: 5_000, example: 250 })
  timeoutMs?: number;
}

/** How the endpoint answers, as far as it is not secret. */
export class ResponseView {
  /** `static` answers everything in the same way, the others do the handshake of a provider. */
  @ApiProperty({ enum: RESPONSE_TYPES, example: 'meta-challenge' })
  type: ResponseType;

  /** Of `ebay-challenge`: the URL as eBay knows it. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'https://hooks.example.com/in/acme/ebay' })
  endpointUrl?: string;

  /** The status of the answer to what is no handshake, 200 to 599; 200 when left out. */
  @ApiProperty({ required: false, type: 'integer', minimum: 200, maximum: 599, example: 200 })
  status?: number;

  /** Its body, at most 64 KB. */
  @ApiProperty({ required: false, maxLength: 65_536, example: 'ok' })
  body?: string;

  /** Its headers, at most 32. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'content-type': 'text/plain' },
  })
  headers?: Record<string, string>;
}

/** How the endpoint answers. `verifyToken`, `secret` and `verificationToken` are stored encrypted and never returned. */
export class ResponseConfig extends ResponseView {
  /** Of `meta-challenge`, which needs it: the text that was typed into Meta's console. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'a-token-of-your-own' })
  verifyToken?: string;

  /** Of `zoom-challenge`, `x-crc` and `twitch-challenge`, where it is not the endpoint's own secret. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'a-secret-of-the-provider' })
  secret?: string;

  /** Of `ebay-challenge`, which needs it; of `slack-challenge` the legacy token of the app. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'a-token-of-the-provider' })
  verificationToken?: string;
}
