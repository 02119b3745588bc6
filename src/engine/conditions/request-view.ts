import { parseExact } from '../exact-json.js';
import { headerOf, type ReceivedRequest, type Verification } from '../inbound/request.js';
import { unpacked } from '../inbound/unpacked.js';
import { type IpAddress, ipAddress } from '../ip-ranges.js';

/** A longer body is not read for JSON or form fields; its text is cut here. */
export const VISIBLE_BYTES_MAX = 128 * 1024;
/** What nests deeper is not taken for JSON: everything after this may then recurse. */
const JSON_DEPTH_MAX = 512;
/**
 * How much work conditions may be. A step is about 8 ns: what one character costs that is looked at. Whoever asks for
 * more than there is gets nothing, and from then on nobody does.
 */
export interface Allowance {
  /** Whether so much more work may be done. */
  spend(steps: number): boolean;
  /** That something was not looked at, so that nobody knows what it would have said. */
  readonly isExhausted: boolean;
  readonly spent: number;
}

/** What conditions on one request may cost where everything else waits for them: about two milliseconds. */
export const STEPS_AT_ONCE = 250_000;

/** A number of steps. */
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

/** A request as conditions and templates look at it. Everything is parsed when it is first asked for, and once. */
export class RequestView {
  private readonly allowance: Allowance;
  private readonly parsed: Map<string, unknown>;

  /** `isUnpacked` says that the body is without its content encoding already. */
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

  /** The same request, with what was parsed of it, for conditions of somebody else: the work of one must not decide about another's. */
  fresh(): RequestView {
    return new RequestView(this.request, this.verification, { parsed: this.parsed });
  }

  /** What all conditions on this view have cost so far. */
  get stepsSpent(): number {
    return this.allowance.spent;
  }

  get method(): string {
    return this.request.method;
  }

  /** Percent-decoded once; as it was sent where that is not possible. */
  get path(): string {
    return this.once('path', () => decoded(this.request.path));
  }

  /** The client's address; undefined when it is none. */
  get ip(): IpAddress | undefined {
    return this.once('ip', () => ipAddress(this.request.ip) ?? undefined);
  }

  /** In lower case, without parameters. */
  get mediaType(): string | undefined {
    return this.once(
      'mediaType',
      () => headerOf(this.request, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase() || undefined,
    );
  }

  /** The body without its content encoding; empty where that can't be had. */
  get body(): Buffer {
    return this.once('body', () => unpacked(this.request).body);
  }

  /** The body as UTF-8, its first 128 KB; undefined when it is empty. */
  get text(): string | undefined {
    // Streaming leaves out a character that the cut has split.
    return this.once('text', () =>
      this.body.length === 0
        ? undefined
        : new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.body.subarray(0, VISIBLE_BYTES_MAX), {
            stream: true,
          }),
    );
  }

  /** The body as JSON, whatever its content type says, with numbers as they were written; undefined when it is over 128 KB or not JSON in UTF-8. */
  get json(): unknown {
    return this.once('json', () => jsonOf(this.body));
  }

  /** `name` is in lower case. */
  header(name: string): string | undefined {
    return headerOf(this.request, name);
  }

  /** The first value of a query parameter. */
  query(name: string): string | undefined {
    return this.once('query', () => firstValues(this.request.query)).get(name);
  }

  /** The first value of a field of a URL-encoded body of at most 128 KB. */
  form(name: string): string | undefined {
    return this.once('form', () => {
      const isForm = this.mediaType === 'application/x-www-form-urlencoded' && this.body.length <= VISIBLE_BYTES_MAX;
      return isForm ? firstValues(this.body.toString('utf8')) : new Map<string, string>();
    }).get(name);
  }

  /**
   * Whether so much work may still be done for this request. Once it may not, no condition matches any more: a `not`
   * must not turn what was never looked at into a match.
   */
  spend(steps: number): boolean {
    return this.allowance.spend(steps);
  }

  get isExhausted(): boolean {
    return this.allowance.isExhausted;
  }

  /** What was found under this name before, or is found now; what could not be looked at to the end is not kept. */
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

/** Counts brackets outside of strings; right for every text that is JSON. */
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
