import { parseExact } from '../exact-json.js';
import { headerOf, type ReceivedRequest, type Verification } from '../inbound/request.js';
import { unpacked } from '../inbound/unpacked.js';
import { type IpAddress, ipAddress } from '../ip-ranges.js';

/** Maximum size of a body that is parsed as JSON or form fields. The text of a longer body is cut here. */
export const VISIBLE_BYTES_MAX = 128 * 1024;
/** Maximum nesting of a body that is parsed as JSON, so that later code can recurse without a stack overflow. */
const JSON_DEPTH_MAX = 512;
/** A budget in steps of about 8 ns, the cost of reading a character. After one refusal, it refuses all later steps. */
export interface Allowance {
  /** Deducts `steps` and returns whether the allowance covers them. */
  spend(steps: number): boolean;
  /** Whether some work was refused, so that the result of the evaluation is unknown. */
  readonly isExhausted: boolean;
  readonly spent: number;
}

/** Maximum cost of the conditions on one request when they run on the event loop: about 2 ms. */
export const STEPS_AT_ONCE = 250_000;

export class StepAllowance implements Allowance {
  private stepsLeft: number;

  constructor(private readonly steps = STEPS_AT_ONCE) {
    this.stepsLeft = steps;
  }

  spend(steps: number): boolean {
    this.stepsLeft -= steps;
    return this.stepsLeft >= 0;
  }

  get isExhausted(): boolean {
    return this.stepsLeft < 0;
  }

  get spent(): number {
    return this.steps - this.stepsLeft;
  }
}

/** A request as conditions and templates read it. Each part is parsed on first use and then cached. */
export class RequestView {
  private readonly allowance: Allowance;
  private readonly parsed: Map<string, unknown>;

  /** `isUnpacked` says that the content encoding of the body is already removed. */
  constructor(
    readonly request: ReceivedRequest,
    readonly verification: Verification,
    {
      allowance = new StepAllowance(),
      parsed = new Map<string, unknown>(),
      isUnpacked = false,
    }: { allowance?: Allowance; parsed?: Map<string, unknown>; isUnpacked?: boolean } = {},
  ) {
    this.allowance = allowance;
    this.parsed = parsed;
    if (isUnpacked) parsed.set('body', request.body);
  }

  /** Returns a view with the same parsed parts and a new allowance, so that each route has its own allowance. */
  fresh(): RequestView {
    return new RequestView(this.request, this.verification, { parsed: this.parsed });
  }

  get stepsSpent(): number {
    return this.allowance.spent;
  }

  get method(): string {
    return this.request.method;
  }

  /** The path, percent-decoded once, or as sent if it cannot be decoded. */
  get path(): string {
    return this.once('path', () => decoded(this.request.path));
  }

  get ip(): IpAddress | undefined {
    return this.once('ip', () => ipAddress(this.request.ip) ?? undefined);
  }

  /** The media type in lower case, without parameters. */
  get mediaType(): string | undefined {
    return this.once(
      'mediaType',
      () => headerOf(this.request, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase() || undefined,
    );
  }

  /** The body without its content encoding. Empty if it cannot be decoded. */
  get body(): Buffer {
    return this.once('body', () => unpacked(this.request).body);
  }

  /** The first 128 KB of the body as UTF-8. Undefined if the body is empty. */
  get text(): string | undefined {
    // In streaming mode, the decoder drops a character that was cut in half.
    return this.once('text', () =>
      this.body.length === 0
        ? undefined
        : new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.body.subarray(0, VISIBLE_BYTES_MAX), {
            stream: true,
          }),
    );
  }

  /** The body as JSON with original numbers, for any content type. Undefined if over 128 KB or not JSON in UTF-8. */
  get json(): unknown {
    return this.once('json', () => jsonOf(this.body));
  }

  /** Returns the value of a header. `name` is in lower case. */
  header(name: string): string | undefined {
    return headerOf(this.request, name);
  }

  /** Returns the first value of a query parameter. */
  query(name: string): string | undefined {
    return this.once('query', () => firstValues(this.request.query)).get(name);
  }

  /** Returns the first value of a field of a URL-encoded body of at most 128 KB. */
  form(name: string): string | undefined {
    return this.once('form', () => {
      const isForm = this.mediaType === 'application/x-www-form-urlencoded' && this.body.length <= VISIBLE_BYTES_MAX;
      return isForm ? firstValues(this.body.toString('utf8')) : new Map<string, string>();
    }).get(name);
  }

  /** Once the allowance is exhausted, no condition matches. Otherwise a `not` could make an unread value match. */
  spend(steps: number): boolean {
    return this.allowance.spend(steps);
  }

  get isExhausted(): boolean {
    return this.allowance.isExhausted;
  }

  /** Computes the result once per `name`. Results of an exhausted view are not cached: they may be incomplete. */
  found<T>(name: string, find: () => T): T {
    const key = `found ${name}`;
    if (this.parsed.has(key)) return this.parsed.get(key) as T;
    const value = find();
    if (!this.isExhausted) this.parsed.set(key, value);
    return value;
  }

  private once<T>(key: string, parse: () => T): T {
    if (!this.parsed.has(key)) this.parsed.set(key, parse());
    return this.parsed.get(key) as T;
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function firstValues(encoded: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(encoded)) if (!values.has(name)) values.set(name, value);
  return values;
}

function jsonOf(body: Buffer): unknown {
  if (body.length === 0 || body.length > VISIBLE_BYTES_MAX || nestsTooDeeply(body)) return undefined;
  try {
    return parseExact(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = Buffer.from('"\\[]{}');

/** Counts brackets outside of strings. Correct for every valid JSON text. */
function nestsTooDeeply(body: Buffer): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (isInString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) {
      isInString = true;
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return true;
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      depth -= 1;
    }
  }
  return false;
}
