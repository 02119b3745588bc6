import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { addressSet, ipAddress } from '#engine/ip-ranges.js';
import type { SmtpAnswer } from '#modules/inbox/contract.js';
import type { Conversation, Conversations, Ending } from './conversations.js';

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
const OWN_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

/**
 * smtp-server with the features that it lacks:
 *
 * - a connection limit for each address,
 * - a command limit (the limit of smtp-server counts only clients that could log in),
 * - load balancer networks in CIDR notation,
 * - Posthorn's own enhanced status codes (smtp-server has only one for each reply code).
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
