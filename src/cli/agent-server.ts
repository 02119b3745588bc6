import { randomUUID } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import { redirectOf, retryAfterOf } from '../client/errors.js';
import { EventSourceParser } from '../client/event-source.js';
import { reasonOf } from '../client/retries.js';
import { parseExact, writeExact } from '../engine/exact-json.js';
import { jsonLines, TooLong } from './json-lines.js';
import type { Access } from './sessions.js';

/** What the tools that are offered may do. */
export type ScopeCap = 'read' | 'write';

type Id = string | number | null;

/** One message of JSON-RPC 2.0, as far as it is looked at here. */
interface Message {
  id?: Id;
  method?: string;
  params?: {
    name?: unknown;
    uri?: unknown;
    requestId?: unknown;
    arguments?: Record<string, unknown>;
    _meta?: Record<string, unknown>;
  };
  result?: { tools?: unknown; protocolVersion?: unknown };
}

interface Tool {
  name: string;
  annotations?: { readOnlyHint?: boolean };
  inputSchema?: { properties?: Record<string, unknown> };
}

/** How it is connected: everything that a test may want to have otherwise. */
export interface AgentConnection {
  /** Read for every message: who signs in again meanwhile need not start it again. */
  access: () => Access;
  fetch: (request: Request) => Promise<Response>;
  /** Writes one message; resolves once more may be written. */
  write: (message: unknown) => Promise<void>;
  /** For people: standard output is the protocol's. */
  complain: (line: string) => void;
}

/** As the server's own body limit. */
const LINE_BYTES_MAX = 1_048_576;
const UNDER_WAY_MAX = 16;
/** Longer than the longest call of a tool. */
const TIMEOUT_MS = 45_000;
/** A service that restarts is waited for: about as long as agents wait for an answer. */
const AWAY_MS_MAX = 40_000;
const BACKOFF_MS_FIRST = 250;
const BACKOFF_MS_MAX = 4_000;
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const PARSE_ERROR = -32_700;
/** Of the range that is the server's own (JSON-RPC 2.0, section 5.1). */
const UNREACHABLE = -32_000;
const UNAUTHENTICATED = -32_001;

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/**
 * The tools of a service's `/mcp` over standard input and output: each message goes there with the user's key, and the answer comes back as it is,
 * without the tools that the cap leaves out. A service that restarts is waited for; a call that changes something gets an idempotency key
 * first, so that it is done once however often it is sent.
 */
export class AgentServer {
  /** By id, as JSON: an id may be a number of any length. */
  private readonly underWay = new Map<string, AbortController>();
  private tools: ReadonlyMap<string, Tool> | null = null;
  /** Of the handshake of 2025; later revisions name theirs in each message. */
  private agreed: string | null = null;

  constructor(
    private readonly connection: AgentConnection,
    private readonly cap: ScopeCap,
  ) {}

  /** Until the input ends and everything that was asked is answered. */
  async run(input: AsyncIterable<Buffer>): Promise<void> {
    const answering = new Set<Promise<void>>();
    for await (const line of jsonLines(input, LINE_BYTES_MAX)) {
      const told = this.take(line)
        .catch((error: unknown) => this.connection.complain(reasonOf(error)))
        .finally(() => answering.delete(told));
      answering.add(told);
      // What comes meanwhile stays where it came from.
      while (answering.size >= UNDER_WAY_MAX) await Promise.race(answering);
    }
    await Promise.all(answering);
  }

  private async take(line: string | TooLong): Promise<void> {
    if (line instanceof TooLong) return this.refuse(null, PARSE_ERROR, `A message may have ${LINE_BYTES_MAX} bytes.`);
    const message = parsed(line);
    if (message === null) return this.refuse(null, PARSE_ERROR, 'This is not JSON.');
    if (typeof message !== 'object' || Array.isArray(message))
      return this.refuse(null, INVALID_REQUEST, 'Send one message a line.');
    // An answer: nothing was asked.
    if (typeof message.method !== 'string')
      return message.id === undefined ? this.refuse(null, INVALID_REQUEST, 'The method is missing.') : undefined;
    const { id, method, params } = message;
    if (id === undefined) {
      if (method === 'notifications/cancelled') this.underWay.get(writeExact(params?.requestId ?? null))?.abort();
      return;
    }
    const gone = new AbortController();
    this.underWay.set(writeExact(id), gone);
    try {
      await this.answer(message as Message & { id: Id; method: string }, gone.signal);
    } catch (error) {
      // Who gave it up expects no answer.
      if (!gone.signal.aborted)
        await this.refuse(id, error instanceof Away ? error.code : UNREACHABLE, reasonOf(error));
    } finally {
      this.underWay.delete(writeExact(id));
    }
  }

  private async answer(message: Message & { id: Id; method: string }, signal: AbortSignal): Promise<void> {
    const asked =
      message.method === 'tools/call' ? await this.called(message, signal) : { message, isRepeatable: true };
    if (asked === null) return;
    for (const told of await this.exchange(asked.message, signal, asked.isRepeatable)) {
      if (message.method === 'initialize' && typeof told.result?.protocolVersion === 'string')
        this.agreed = told.result.protocolVersion;
      if (message.method === 'tools/list' && Array.isArray(told.result?.tools))
        told.result.tools = this.offered(told.result.tools as Tool[]);
      await this.connection.write(told);
    }
  }

  /** The call as it is sent on; null for one that is refused here. */
  private async called(
    message: Message & { id: Id; method: string },
    signal: AbortSignal,
  ): Promise<{ message: Message; isRepeatable: boolean } | null> {
    const name = String(message.params?.name);
    let tool = this.tools?.get(name);
    if (tool === undefined) {
      await this.learn(message, signal);
      tool = this.tools?.get(name);
    }
    if (tool === undefined) {
      const there = [...(this.tools?.keys() ?? [])].join(', ');
      await this.refuse(
        message.id,
        INVALID_PARAMS,
        `There is no tool called ${name.slice(0, 64)}${this.cap === 'read' ? ' within --scope read' : ''}. There are: ${there}.`,
      );
      return null;
    }
    const { arguments: given = {} } = message.params ?? {};
    const takesKey = Object.hasOwn(tool.inputSchema?.properties ?? {}, 'idempotency_key');
    if (!takesKey) return { message, isRepeatable: tool.annotations?.readOnlyHint === true };
    return {
      message: { ...message, params: { ...message.params, arguments: { idempotency_key: randomUUID(), ...given } } },
      isRepeatable: true,
    };
  }

  private async learn({ params }: Message, signal: AbortSignal): Promise<void> {
    const list = {
      jsonrpc: '2.0',
      id: 'tools',
      method: 'tools/list',
      params: params?._meta === undefined ? {} : { _meta: params._meta },
    };
    for (const { result } of await this.exchange(list, signal, true))
      if (Array.isArray(result?.tools)) this.offered(result.tools as Tool[]);
  }

  /** Without what may change something, unless the cap says so: a tool that does not say that it only reads is taken for one that does not. */
  private offered(tools: readonly Tool[]): Tool[] {
    const within = tools.filter(({ annotations }) => this.cap === 'write' || annotations?.readOnlyHint === true);
    this.tools = new Map(within.map((tool) => [tool.name, tool]));
    return within;
  }

  /** Sends a message until it is answered; `isRepeatable` says that it may be sent again although it may have arrived. */
  private async exchange(message: Message, signal: AbortSignal, isRepeatable: boolean): Promise<Message[]> {
    const untilMs = performance.now() + AWAY_MS_MAX;
    for (let waitMs = BACKOFF_MS_FIRST; ; waitMs = Math.min(waitMs * 2, BACKOFF_MS_MAX)) {
      let why: Away;
      let askedMs = 0;
      try {
        const response = await this.post(message, signal);
        const answers = await messagesOf(response);
        if (answers.length > 0 || response.status === 202) return answers;
        why = refusalOf(response, await response.text());
        askedMs = (retryAfterOf(response.headers) ?? 0) * 1_000;
        if (!AGAIN.has(response.status)) throw why;
      } catch (error) {
        if (error instanceof Away || signal.aborted) throw error;
        why = new Away(UNREACHABLE, `${this.connection.access().url} could not be reached: ${reasonOf(error)}`);
        if (!isRepeatable && !isRefusedConnection(error))
          throw new Away(UNREACHABLE, `${why.message}. The call may have been done all the same.`);
      }
      if (performance.now() + Math.max(waitMs, askedMs) > untilMs) throw why;
      await rest(Math.max(waitMs * (0.5 + Math.random() / 2), askedMs), undefined, { signal });
    }
  }

  private async post(message: Message, signal: AbortSignal): Promise<Response> {
    const { url, apiKey } = this.connection.access();
    if (apiKey === null)
      throw new Away(
        UNAUTHENTICATED,
        `Nobody is signed in at ${url}: run \`posthorn login\`, or set POSTHORN_API_KEY.`,
      );
    const { params, method = '' } = message;
    const version = params?._meta?.[VERSION];
    const name = params?.name ?? params?.uri;
    const isHeader = typeof name === 'string' && /^[\x21-\x7e]+$/.test(name);
    const late = AbortSignal.timeout(TIMEOUT_MS);
    const response = await this.connection.fetch(
      new Request(`${url}/mcp`, {
        method: 'POST',
        redirect: 'manual',
        signal: AbortSignal.any([signal, late]),
        body: writeExact(message),
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'user-agent': 'posthorn-cli mcp',
          ...(typeof version === 'string'
            ? { 'mcp-protocol-version': version, 'mcp-method': method, ...(isHeader && { 'mcp-name': name }) }
            : this.agreed !== null && method !== 'initialize'
              ? { 'mcp-protocol-version': this.agreed }
              : {}),
        },
      }),
    );
    const redirect = redirectOf(url, response);
    if (redirect !== null) throw new Away(UNREACHABLE, redirect.message);
    // Read within the same time: a connection that breaks under the body is as good as none.
    return new Response(response.status === 202 || response.status === 204 ? null : await response.text(), {
      status: response.status === 204 ? 202 : response.status,
      headers: response.headers,
    });
  }

  private refuse(id: Id, code: number, message: string): Promise<void> {
    return this.connection.write({ jsonrpc: '2.0', id, error: { code, message } });
  }
}

/** Why a message is not answered, with the code that says so. */
class Away extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Messages of JSON-RPC in an answer, whatever its status; none where it is something else, which is left unread. */
async function messagesOf(response: Response): Promise<Message[]> {
  const type = response.headers.get('content-type') ?? '';
  const text = await response.clone().text();
  if (type.startsWith('text/event-stream')) {
    return new EventSourceParser()
      .take(`${text}\n\n`)
      .map(({ data }) => parsed(data))
      .filter((message): message is Message => message !== null);
  }
  const message = parsed(text);
  return message !== null && typeof message === 'object' && 'jsonrpc' in message ? [message] : [];
}

function refusalOf({ status }: Response, text: string): Away {
  const said = (parsed(text) as { error?: { message?: unknown } } | null)?.error?.message;
  const what =
    typeof said === 'string'
      ? said
      : status === 200
        ? 'The answer is not that of Posthorn: is this the URL of the service?'
        : `The service answered ${status}.`;
  return status === 401
    ? new Away(UNAUTHENTICATED, `${what} Run \`posthorn login\`, or set POSTHORN_API_KEY.`)
    : new Away(status === 403 ? UNAUTHENTICATED : UNREACHABLE, what);
}

/** With numbers as they were written: what is passed on is what was said. */
function parsed(text: string): Message | null {
  try {
    return parseExact(text) as Message;
  } catch {
    return null;
  }
}

/** Whether not even a connection was there: nothing was sent. */
function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(
    (cause as { code?: string }).code ?? '',
  );
}
