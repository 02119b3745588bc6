import { parseExact } from '../exact-json.js';
import { firstFieldsOf, isForm } from '../inbound/body.js';
import { headerOf, type ReceivedRequest, valuesByName, type Verification } from '../inbound/request.js';
import { unpacked } from '../inbound/unpacked.js';
import { type IpAddress, ipAddress } from '../ip-ranges.js';

/** Maximum size of a body parsed as JSON, and of the fields of a multipart form. Longer text is cut at this size. */
export const VISIBLE_BYTES_MAX = 128 * 1024;
/** Maximum size of a URL-encoded form. Percent-encoding makes 128 KB of values at most three times as long. */
const FORM_BYTES_MAX = 3 * VISIBLE_BYTES_MAX;
/** Maximum nesting of a body that is parsed as JSON, so that later code can recurse without a stack overflow. */
const JSON_DEPTH_MAX = 512;
/**
 * Budget for evaluating conditions, in steps of about 8 ns. Once it has refused a step, it refuses every later step.
 */
export interface Allowance {
  /** Deducts `steps` and returns whether the allowance covers them. */
  spend(steps: number): boolean;
  /** Whether a step was refused, so that the result of the evaluation is unknown. */
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

export type FormField = readonly [name: string, value: string];

/** A request, as conditions and templates read it. Each part is parsed on first use and then cached. */
export class RequestView {
  private readonly allowance: Allowance;
  private readonly parsed: Map<string, unknown>;

  /**
   * `isUnpacked`: the content encoding of the body has already been removed. `fields`: the form fields of the body, if
   * already parsed.
   */
  constructor(
    readonly request: ReceivedRequest,
    readonly verification: Verification,
    {
      allowance = new StepAllowance(),
      parsed = new Map<string, unknown>(),
      isUnpacked = false,
      fields,
    }: {
      allowance?: Allowance;
      parsed?: Map<string, unknown>;
      isUnpacked?: boolean;
      fields?: readonly FormField[] | undefined;
    } = {},
  ) {
    this.allowance = allowance;
    this.parsed = parsed;
    if (isUnpacked) parsed.set('body', request.body);
    if (fields !== undefined) parsed.set('fields', fields);
  }

  /** Returns a view with the same parsed parts and a new evaluation budget, because each route has its own budget. */
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

  /** The body after its content encoding is decoded. Empty if it cannot be decoded. */
  get body(): Buffer {
    return this.once('body', () => unpacked(this.request).body);
  }

  /** The first 128 KB of the body as UTF-8. Undefined if the body is empty. */
  get text(): string | undefined {
    // Streaming mode makes the decoder drop a last character that the cut at 128 KB has split.
    return this.once('text', () =>
      this.body.length === 0
        ? undefined
        : new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.body.subarray(0, VISIBLE_BYTES_MAX), {
            stream: true,
          }),
    );
  }

  /**
   * The body parsed as JSON, for any content type. For a form, the parsed JSON in its field `payload`. Numbers keep
   * their original spelling. Undefined if the text is over 128 KB or is not JSON in UTF-8.
   */
  get json(): unknown {
    return this.once('json', () => {
      const json = jsonOf(this.body);
      return json === undefined ? jsonOf(Buffer.from(this.form('payload')[0] ?? '')) : json;
    });
  }

  /** The first 1,000 fields of a URL-encoded form of up to 384 KB, or of a multipart form with up to 128 KB in all. */
  get fields(): readonly FormField[] {
    return this.once('fields', () => visibleFields({ headers: this.request.headers, body: this.body }));
  }

  /** Returns the value of a header. `name` is in lower case. */
  header(name: string): string | undefined {
    return headerOf(this.request, name);
  }

  /** Returns the values of a repeated header one by one. `name` is in lower case. */
  headerValues(name: string): readonly string[] {
    return this.once('headers', () => valuesByName(this.request.headers)).get(name) ?? [];
  }

  /** Returns all values of a query parameter. */
  query(name: string): readonly string[] {
    return this.once('query', () => valuesByName(new URLSearchParams(this.request.query))).get(name) ?? [];
  }

  /** Returns all values of a field in `fields`. */
  form(name: string): readonly string[] {
    return this.once('form', () => valuesByName(this.fields)).get(name) ?? [];
  }

  /**
   * Deducts steps from the evaluation budget. Returns false once the budget is exhausted. No condition matches after
   * that, not even a `not`.
   */
  spend(steps: number): boolean {
    return this.allowance.spend(steps);
  }

  get isExhausted(): boolean {
    return this.allowance.isExhausted;
  }

  /**
   * Caches the result of `find` by `name`. Does not cache it once the evaluation budget is exhausted, because the
   * result may be incomplete.
   */
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

function visibleFields(request: Pick<ReceivedRequest, 'headers' | 'body'>): FormField[] {
  if (isForm(request)) return request.body.length > FORM_BYTES_MAX ? [] : [...firstFieldsOf(request)];
  let lengthLeft = VISIBLE_BYTES_MAX;
  return [...firstFieldsOf(request)].filter(([name, value]) => (lengthLeft -= name.length + value.length) >= 0);
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

/** Returns whether JSON is nested too deeply. Counts brackets outside of strings, which is exact for valid JSON. */
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
