import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { ApiError, badRequest } from '#kernel/errors.js';
import type { Ids } from '#kernel/ids.js';
import { BODY_BYTES_MAX } from './body-limit.js';
import { coalesceSocketWrites } from './coalesced-writes.js';
import { answerOf, JSON_TYPE } from './envelope.js';
import { plainUrl } from './plain-url.js';

/** The part of `net.Socket` that this file uses, declared without importing it. */
interface ClientSocket {
  readonly writable: boolean;
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
  end(bytes: string): void;
  destroy(): void;
}

/** The part of `http.IncomingMessage` that routing by host uses, declared without importing it. */
export interface HostedRequest {
  url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Time limit for receiving a whole request, against clients that send very slowly. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Idle timeout of connections. Exceeds that of common load balancers, so that they close idle connections first. */
const KEEP_ALIVE_MS = 75_000;

/** Responses to errors of Node's HTTP parser, and to CONNECT. All other errors of the parser get 400. */
const CLIENT_ERRORS: Readonly<Record<string, readonly [line: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request line and headers are larger than 16 KB.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Payload Too Large', 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
  CONNECT: ['400 Bad Request', 'CONNECT is for proxies, and this is none.'],
};

type UnroutedAnswer = (error: Error, request: FastifyRequest, reply: FastifyReply) => void;

/** Fastify without its own body parsers, request log and error responses. */
export class EdgeAdapter extends FastifyAdapter {
  private answer: UnroutedAnswer = (error, _, reply) => {
    reply.send(error);
  };
  private urlByHost: (request: HostedRequest) => string | null = () => null;

  /** Returns the adapter of an app as an `EdgeAdapter`. Throws if the app was created with another adapter. */
  static from(adapter: object): EdgeAdapter {
    if (adapter instanceof EdgeAdapter) return adapter;
    throw new Error('Create the app with the adapter of `createAdapter()`.');
  }

  /** Sets the function that responds to requests without a route. */
  answerUnroutedBy(answer: UnroutedAnswer): void {
    this.answer = answer;
  }

  /**
   * Routes a request to the URL that `urlByHost` returns for its host. If the URL is null, routes by the request's
   * path.
   */
  routeByHost(urlByHost: (request: HostedRequest) => string | null): void {
    this.urlByHost = urlByHost;
  }

  answerUnrouted(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    this.answer(error, request, reply);
  }

  urlOf(request: HostedRequest): string {
    return this.urlByHost(request) ?? plainUrl(request.url ?? '/');
  }

  /** Nest would register parsers for JSON and forms here. `configureApp` registers Posthorn's parsers instead. */
  override registerParserMiddleware(): void {}
}

/** Creates the adapter. Request ids are `req_` + ULID. Forwarding headers are trusted only from `trustProxy`. */
export function createAdapter(ids: Ids, logger: Logger, trustProxy: readonly string[] = []): EdgeAdapter {
  const requestId = (): string => ids.nextShown('req');
  const adapter: EdgeAdapter = new EdgeAdapter({
    loggerInstance: withoutChildren(logger),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    rewriteUrl: (request: HostedRequest) => adapter.urlOf(request),
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node's check of the Host header would respond without a body. Posthorn's check responds with the error envelope.
    http: { requireHostHeader: false },
    // During the drain at shutdown, requests on open connections are still served, with `Connection: close`.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 2048 },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      adapter.answerUnrouted(error, request, reply),
    clientErrorHandler: (error: ConnectionError, socket: ClientSocket) => refuseSocket(error, socket, requestId()),
  });
  const { server } = adapter.getInstance();
  // With a limit, Node would silently drop further headers. The total size of the headers is limited to 16 KB instead.
  server.maxHeadersCount = 0;
  server.on('connection', coalesceSocketWrites);
  // Without a listener, Node closes the connection after CONNECT without a response.
  server.on('connect', (_request, socket) => refuseSocket({ code: 'CONNECT' }, socket, requestId()));
  return adapter;
}

/**
 * Returns a logger without Fastify's child logger per request, which would be slow. Posthorn adds the request id to its
 * few log lines itself.
 */
function withoutChildren(logger: Logger): FastifyBaseLogger {
  const single = Object.create(logger) as FastifyBaseLogger;
  single.child = () => single;
  return single;
}

/** Responds with an error to bytes that are not an HTTP request. Sends nothing if a response has already begun. */
function refuseSocket(error: Pick<ConnectionError, 'code'>, socket: ClientSocket, requestId: string): void {
  if (!socket.writable || error.code === 'ECONNRESET' || socket._httpMessage?.headersSent) return socket.destroy();
  const [line, message] = CLIENT_ERRORS[error.code] ?? ['400 Bad Request', 'This is not a valid HTTP request.'];
  const type = line.startsWith('413') ? new ApiError('payload_too_large', message) : badRequest(message);
  const { body } = answerOf(type, requestId);
  socket.end(
    [
      `HTTP/1.1 ${line}`,
      'connection: close',
      `content-type: ${JSON_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      '',
      body,
    ].join('\r\n'),
  );
}
