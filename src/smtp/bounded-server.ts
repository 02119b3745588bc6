import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { addressSet, ipAddress } from '#engine/ip-ranges.js';
import type { SmtpAnswer } from '#modules/inbox/contract.js';
import type { Conversation, Conversations, Ending } from './conversations.js';
import { unstuffByChunk } from './dot-unstuffing.js';

export type SmtpConnection = SMTPServer['connections'] extends Set<infer C> ? C : never;

type ClientSocket = Parameters<SMTPServer['connect']>[0];
type ConnectionOptions = Parameters<SMTPServer['connect']>[1];

export interface WireEvents {
  /** Called for each 4xx or 5xx reply, with its codes, such as `550 5.1.1`. */
  refused(codes: string): void;
  /** Returns the reply that rejects `command` (in upper case), or null to accept it. If absent, rejects no command. */
  refusalOf?(command: string, session: SMTPServerSession): SmtpAnswer | null;
}

type ServerSocket = SmtpConnection['_socket'];

/**
 * Codes of replies that are collected and sent together. Other replies are sent at once, because they may close the
 * connection or start TLS.
 */
const GATHERED: ReadonlySet<number> = new Set([250, 354]);
/** Parameters of MAIL FROM (RFC 1870, 6152, 6531, 8689). No extension that Posthorn offers has a parameter of RCPT TO. */
const MAIL_PARAMETERS: ReadonlySet<string> = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'REQUIRETLS']);
const UNKNOWN_PARAMETER = '5.5.4 The command has a parameter that this server does not know.';
const OWN_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

/**
 * smtp-server with the features that it lacks:
 *
 * - a connection limit for each address,
 * - a command limit (the limit of smtp-server counts only clients that could log in),
 * - load balancer networks in CIDR notation,
 * - Posthorn's own enhanced status codes (smtp-server has only one for each reply code),
 * - quoted local parts (RFC 5321, section 4.1.2),
 * - 555 for unknown parameters (RFC 5321, section 4.1.1.11),
 * - replies to clients that have ended their side of the connection,
 * - backpressure and little CPU time for lines that begin with a dot.
 *
 * It overrides internal methods of the library. test/api/smtp-*.e2e-spec.ts fail if the library no longer calls them.
 */
export class BoundedServer extends SMTPServer {
  private readonly balancers;
  private readonly corked = new WeakSet<ServerSocket>();

  constructor(
    options: SMTPServerOptions,
    trustedNetworks: readonly string[],
    private readonly conversations: Conversations,
    private readonly events: WireEvents,
  ) {
    super(options);
    this.balancers = addressSet(trustedNetworks);
  }

  override connect(socket: ClientSocket, options?: ConnectionOptions): void {
    super.connect(socket, options);
    const connection = [...this.connections].at(-1);
    if (connection === undefined) return;
    const conversation = this.conversations.begin(connection.id, connection.remoteAddress);
    this.answerWithOwnCodes(connection);
    this.countCommands(connection, conversation);
    this.readQuotedAddresses(connection);
    this.rejectUnknownParameters(connection);
    this.unstuffByChunk(connection);
    this.answerHalfOpen(connection);
  }

  override _expectsProxyHeader(socket: { remoteAddress?: string | undefined }): boolean {
    const address = ipAddress(socket.remoteAddress ?? '');
    return address !== null && this.balancers.has(address);
  }

  connection(id: string): SmtpConnection | null {
    for (const connection of this.connections) if (connection.id === id) return connection;
    return null;
  }

  dismiss(id: string, { code, text }: Ending): void {
    this.connection(id)?.send(code, text, false);
  }

  private answerWithOwnCodes(connection: SmtpConnection): void {
    const send = connection.send.bind(connection);
    connection.send = (code, text, context) => {
      const isOwn = typeof text === 'string' && OWN_ENHANCED_CODE.test(text);
      keepWritable(connection._socket);
      if (GATHERED.has(code)) this.gather(connection._socket);
      else this.gathered(connection._socket);
      send(code, text, isOwn ? false : context);
      if (code >= 400)
        this.events.refused(
          /^\d{3}(?: [245]\.\d{1,3}\.\d{1,3})?/.exec(String(connection.session.error))?.[0] ?? String(code),
        );
    };
  }

  /**
   * Sends the replies to pipelined commands together (RFC 2920, section 3.2), at the end of this event loop iteration.
   * Separate writes of the four replies to a message took a fifth of its processing time.
   */
  private gather(socket: ServerSocket): void {
    if (this.corked.has(socket)) return;
    socket.cork();
    this.corked.add(socket);
    setImmediate(() => this.gathered(socket));
  }

  private gathered(socket: ServerSocket): void {
    if (this.corked.delete(socket)) socket.uncork();
  }

  private readQuotedAddresses(connection: SmtpConnection): void {
    const parse = connection._parseAddressCommand.bind(connection);
    connection._parseAddressCommand = (name, command) => {
      const { text, quoted } = withoutQuotes(String(command));
      const parsed = parse(name, text);
      if (parsed !== false && quoted !== null)
        parsed.address = `${quoted}${parsed.address.slice(parsed.address.lastIndexOf('@'))}`;
      return parsed;
    };
  }

  private rejectUnknownParameters(connection: SmtpConnection): void {
    const reject = connection._rejectInvalidParams.bind(connection);
    connection._rejectInvalidParams = (parsed, keys, callback) => {
      if (reject(parsed, keys, callback)) return true;
      const isMail = keys.includes('SIZE');
      // A server that offers AUTH must accept its parameter (RFC 4954, section 5).
      const isKnown = (name: string): boolean =>
        isMail && (MAIL_PARAMETERS.has(name) || (name === 'AUTH' && connection._isSupported('AUTH')));
      if (Object.keys(parsed.args || {}).every(isKnown)) return false;
      connection.send(555, UNKNOWN_PARAMETER, false);
      callback();
      return true;
    };
  }

  /**
   * Ends the connection when all commands of a client that has ended its side have their replies. `finish` of the
   * parser waits for the reply to a message. During a TLS handshake, the connection ends at once: the TLS socket takes
   * `allowHalfOpen` from the socket below it.
   */
  private answerHalfOpen(connection: SmtpConnection): void {
    const endAfter = (parser: ReturnType<SmtpConnection['_createParser']>): typeof parser =>
      parser.once('finish', () => connection._socket.end());
    connection._socket.allowHalfOpen = true;
    if (connection._parser) endAfter(connection._parser);
    const create = connection._createParser.bind(connection);
    // STARTTLS creates another parser before the handshake, and pipes the TLS socket to it after the handshake.
    connection._createParser = () => {
      connection._socket.allowHalfOpen = false;
      return endAfter(create()).once('pipe', (socket: ServerSocket) => (socket.allowHalfOpen = true));
    };
  }

  private unstuffByChunk(connection: SmtpConnection): void {
    if (connection._parser) unstuffByChunk(connection._parser);
    // STARTTLS creates another parser.
    const create = connection._createParser.bind(connection);
    connection._createParser = () => unstuffByChunk(create());
  }

  private countCommands(connection: SmtpConnection, conversation: Conversation): void {
    const onCommand = connection._onCommand.bind(connection);
    connection._onCommand = (command, callback) => {
      const ending = this.conversations.commanded(conversation);
      if (ending !== null) return connection.send(ending.code, ending.text, false);
      const name = String(command).split(' ', 1)[0]?.toUpperCase() ?? '';
      const refusal = this.events.refusalOf?.(name, connection.session) ?? null;
      if (refusal === null) return onCommand(command, callback);
      connection.send(refusal.code, `${refusal.enhanced} ${refusal.text}`, false);
      setImmediate(() => callback?.());
    };
  }
}

/** A quoted local part in a path, after an optional source route. */
const QUOTED =
  /^([^<"]*<(?:@[^\s,:@"]+(?:,@[^\s,:@"]+)*:)?)"((?:[^"\\\p{Cc}\p{Cf}]|\\[^\p{Cc}\p{Cf}])+)"(?=@[^\s@>]*>)/u;
const DOT_ATOM = /^[^\s"(),:;<>@[\]\\.]+(?:\.[^\s"(),:;<>@[\]\\.]+)*$/;
/** Stands for a quoted local part while smtp-server parses the command, because it splits the text at spaces. */
const PLACEHOLDER = 'quoted';

/**
 * Returns a MAIL or RCPT command without the quotes of its local part. If the local part needs the quotes, it is
 * replaced in `text`, and `quoted` is the local part in its shortest form.
 */
function withoutQuotes(command: string): { text: string; quoted: string | null } {
  const [whole, before, content] = QUOTED.exec(command) ?? [];
  if (whole === undefined || before === undefined || content === undefined) return { text: command, quoted: null };
  const local = content.replace(/\\(.)/gsu, '$1');
  const rest = command.slice(whole.length);
  if (DOT_ATOM.test(local)) return { text: `${before}${local}${rest}`, quoted: null };
  return { text: `${before}${PLACEHOLDER}${rest}`, quoted: `"${local.replace(/["\\]/g, '\\$&')}"` };
}

/** Makes smtp-server write to a socket whose client has ended its side. It writes only if `readyState` is `open`. */
function keepWritable(socket: ServerSocket): void {
  if (socket.readyState !== 'writeOnly') return;
  Object.defineProperty(socket, 'readyState', {
    get: () => (socket.writable ? 'open' : 'closed'),
    configurable: true,
  });
}
