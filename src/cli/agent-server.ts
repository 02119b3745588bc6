import { randomUUID } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import { redirectOf, retryAfterOf } from '../client/errors.js';
import { EventSourceParser } from '../client/event-source.js';
import { reasonOf } from '../client/retries.js';
import { parseExact, writeExact } from '../engine/exact-json.js';
import { jsonLines, TooLong } from './json-lines.js';
import type { Access } from './sessions.js';

export type ScopeCap = 'read' | 'write';

type Id = string | number | null;

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

export interface AgentConnection {
  /** Returns the URL and the API key of the service. Called for each message, so a new sign-in needs no restart. */
  access: () => Access;
  fetch: (request: Request) => Promise<Response>;
  /** Writes one message. Resolves when the next message can be written. */
  write: (message: unknown) => Promise<void>;
  /** Writes a line for people to standard error, because standard output is used for the protocol. */
  complain: (line: string) => void;
}

/** Maximum length of an input line, equal to the service's body limit. */
const LINE_BYTES_MAX = 1_048_576;
const UNDER_WAY_MAX = 16;
/** Timeout of one request, longer than the longest tool call. */
const TIMEOUT_MS = 45_000;
/** Maximum time to wait for a restarting service. Agents wait about as long for a response. */
const AWAY_MS_MAX = 40_000;
const BACKOFF_MS_FIRST = 250;
const BACKOFF_MS_MAX = 4_000;
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const PARSE_ERROR = -32_700;
/** Error code from the range for servers (JSON-RPC 2.0, section 5.1). */
const UNREACHABLE = -32_000;
const UNAUTHENTICATED = -32_001;

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/**
 * Bridges a service's `/mcp` tools to standard input and output, with the user's key. Responses are unchanged, except
 * that tools outside the maximum scope (`cap`) are removed. Waits for a restarting service. A call that changes data
 * gets an idempotency key, so that it takes effect once even if it is sent several times.
 */
export class AgentServer {
  /** Requests in flight by their id, as JSON text: an id can be a number that JavaScript cannot represent. */
  private readonly underWay = new Map<string, AbortController>();
  private tools: ReadonlyMap<string, Tool> | null = null;
  /**
   * MCP protocol revision agreed on in the handshake of the 2025 protocols. Later protocols name the revision in each
   * message.
   */
  private agreed: string | null = null;

  constructor(
    private readonly connection: AgentConnection,
    private readonly cap: ScopeCap,
  ) {}

  /** Runs until the input ends and all requests are answered. */
  async run(input: AsyncIterable<Buffer>): Promise<void> {
    const answering = new Set<Promise<void>>();
    for await (const line of jsonLines(input, LINE_BYTES_MAX)) {
      const answer = this.take(line)
        .catch((error: unknown) => this.connection.complain(reasonOf(error)))
        .finally(() => answering.delete(answer));
      answering.add(answer);
      // Applies backpressure: reads no further message while too many are in flight.
      while (answering.size >= UNDER_WAY_MAX) await Promise.race(answering);
    }
    await Promise.all(answering);
  }

  private async take(line: string | TooLong): Promise<void> {
    if (line instanceof TooLong)
      return this.refuse(null, PARSE_ERROR, `A message can have at most ${LINE_BYTES_MAX} bytes.`);
    const message = parsed(line);
    if (message === null) return this.refuse(null, PARSE_ERROR, 'This is not JSON.');
    if (typeof message !== 'object' || Array.isArray(message))
      return this.refuse(null, INVALID_REQUEST, 'Send one message per line.');
    // A message without a method is a response and needs no answer.
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
      // A canceled request gets no response.
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
    for (const answer of await this.exchange(asked.message, signal, asked.isRepeatable)) {
      if (message.method === 'initialize' && typeof answer.result?.protocolVersion === 'string')
        this.agreed = answer.result.protocolVersion;
      if (message.method === 'tools/list' && Array.isArray(answer.result?.tools))
        answer.result.tools = this.offered(answer.result.tools as Tool[]);
      await this.connection.write(answer);
    }
  }

  /** Returns the message to forward to the service, or null if the tool call is rejected here. */
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
        `There is no tool called ${name.slice(0, 64)}${this.cap === 'read' ? ' within --scope read' : ''}. Available tools: ${there}.`,
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

  /** Returns the tools that the scope `cap` allows. Assumes that a tool without `readOnlyHint` changes data. */
  private offered(tools: readonly Tool[]): Tool[] {
    const within = tools.filter(({ annotations }) => this.cap === 'write' || annotations?.readOnlyHint === true);
    this.tools = new Map(within.map((tool) => [tool.name, tool]));
    return within;
  }

  /** Sends a message and returns the responses. If `isRepeatable`, may send it more than once. */
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
          throw new Away(UNREACHABLE, `${why.message}. The call may still have taken effect.`);
      }
      if (performance.now() + Math.max(waitMs, askedMs) > untilMs) throw why;
      await rest(Math.max(waitMs * (0.5 + Math.random() / 2), askedMs), undefined, { signal });
    }
  }

  private async post(message: Message, signal: AbortSignal): Promise<Response> {
    const { url, apiKey } = this.connection.access();
    if (apiKey === null)
      throw new Away(UNAUTHENTICATED, `Not signed in at ${url}: run \`posthorn login\`, or set POSTHORN_API_KEY.`);
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
    // Reads the body within the same timeout. A connection that breaks during the body is a failed attempt.
    return new Response(response.status === 202 || response.status === 204 ? null : await response.text(), {
      status: response.status === 204 ? 202 : response.status,
      headers: response.headers,
    });
  }

  private refuse(id: Id, code: number, message: string): Promise<void> {
    return this.connection.write({ jsonrpc: '2.0', id, error: { code, message } });
  }
}

class Away extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Returns the JSON-RPC messages of a response with any status. Empty for other content. The body stays readable. */
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
        ? 'The response does not come from Posthorn. Is this the URL of the service?'
        : `The service answered ${status}.`;
  return status === 401
    ? new Away(UNAUTHENTICATED, `${what} Run \`posthorn login\`, or set POSTHORN_API_KEY.`)
    : new Away(status === 403 ? UNAUTHENTICATED : UNREACHABLE, what);
}

/** Parses a message and preserves numbers exactly as they were written. */
function parsed(text: string): Message | null {
  try {
    return parseExact(text) as Message;
  } catch {
    return null;
  }
}

/** Returns whether the connection was refused, so that nothing was sent. */
function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(
    (cause as { code?: string }).code ?? '',
  );
}
