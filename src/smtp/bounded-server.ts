import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { addressSet, ipAddress } from '#engine/ip-ranges.js';
import type { Conversation, Conversations, Ending } from './conversations.js';

/** A connection of the library, as far as it is touched here. */
export type SmtpConnection = SMTPServer['connections'] extends Set<infer C> ? C : never;

type ClientSocket = Parameters<SMTPServer['connect']>[0];
type ConnectionOptions = Parameters<SMTPServer['connect']>[1];

/** Who listens to what happens on the wire. */
export interface WireEvents {
  /** What is answered with 4xx or 5xx, by its codes: `550 5.1.1`. */
  refused(codes: string): void;
}

type ServerSocket = SmtpConnection['_socket'];

/** Behind them the client may send more; whatever else is said may be the last thing, or be followed by TLS. */
const GATHERED: ReadonlySet<number> = new Set([250, 354]);
const OWN_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

/**
 * smtp-server with what it leaves to others: a limit of connections for each address, of commands (its own counts only
 * those of clients that could log in), networks of balancers in CIDR notation, and enhanced status codes of our own (it
 * knows one for each code). Its instances are reached through what it calls of itself; test/api/smtp-*.e2e-spec.ts fail
 * when it does not any more.
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
  }

  override _expectsProxyHeader(socket: { remoteAddress?: string | undefined }): boolean {
    const address = ipAddress(socket.remoteAddress ?? '');
    return address !== null && this.balancers.has(address);
  }

  connection(id: string): SmtpConnection | null {
    for (const connection of this.connections) if (connection.id === id) return connection;
    return null;
  }

  /** Tells the client why, and ends the connection. */
  dismiss(id: string, { code, text }: Ending): void {
    this.connection(id)?.send(code, text, false);
  }

  private answerWithOwnCodes(connection: SmtpConnection): void {
    const send = connection.send.bind(connection);
    connection.send = (code, text, context) => {
      const isOwn = typeof text === 'string' && OWN_ENHANCED_CODE.test(text);
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
   * Answers to commands that came together leave together (RFC 2920, section 3.2), with this turn of the event loop:
   * four writes for each message were a fifth of its cost.
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

  private countCommands(connection: SmtpConnection, conversation: Conversation): void {
    const onCommand = connection._onCommand.bind(connection);
    connection._onCommand = (command, callback) => {
      const ending = this.conversations.commanded(conversation);
      if (ending === null) onCommand(command, callback);
      else connection.send(ending.code, ending.text, false);
    };
  }
}
