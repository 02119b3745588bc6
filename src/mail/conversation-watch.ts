import type { Writable } from 'node:stream';
import { conversationMsMax, type SmtpWait, waitAfter, waitMs } from '#engine/mail/smtp-times.js';

interface Entry {
  tnx?: string;
  sid?: string;
  localPort?: number;
  remoteAddress?: string;
  remotePort?: number;
}

interface WatchedSocket extends Pick<Writable, 'writableLength' | 'destroyed' | 'destroy' | 'once'> {
  readonly bytesWritten: number;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

export interface WatchedOptions {
  logger: ReturnType<ConversationWatch['logger']>;
  transactionLog: true;
  connectionTimeout: number;
  greetingTimeout: number;
  socketTimeout: number;
}

/**
 * Margin added to nodemailer's own time limits, so that this watch acts first. Only this watch tracks which reply is
 * pending.
 */
const MARGIN_MS = 5_000;

/**
 * Ends conversations whose server does not reply within the time that RFC 5321 allows for the pending command.
 * nodemailer itself has a single limit for any silence. The watch reads nodemailer's log (`transactionLog`), which
 * contains no messages and no passwords.
 */
export class ConversationWatch {
  private readonly sockets = new Map<string, WatchedSocket>();
  private readonly conversations = new Map<string, Conversation>();

  /** `onReply` is called for every reply of a server. */
  constructor(
    private readonly answerMsMax: number,
    private readonly onReply: () => void = () => undefined,
  ) {}

  /**
   * Returns the options for nodemailer. nodemailer's own time limits end connections on which this watch observes no
   * traffic.
   */
  get options(): WatchedOptions {
    const greetingMs = waitMs('greeting', this.answerMsMax);
    return {
      logger: this.logger(),
      transactionLog: true,
      connectionTimeout: conversationMsMax(this.answerMsMax),
      greetingTimeout: greetingMs,
      socketTimeout: waitMs('final-dot', this.answerMsMax) + MARGIN_MS,
    };
  }

  attend(socket: WatchedSocket): void {
    const place = placeOf(socket);
    this.sockets.set(place, socket);
    socket.once('close', () => {
      this.sockets.delete(place);
      for (const [sid, conversation] of this.conversations) {
        if (conversation.socket !== socket) continue;
        conversation.end();
        this.conversations.delete(sid);
      }
    });
  }

  logger() {
    const note = (entry: unknown, text: unknown): void => this.note(entry as Entry, String(text));
    return { trace: note, debug: note, info: note, warn: note, error: note, fatal: note };
  }

  private note(entry: Entry, text: string): void {
    if (entry.sid === undefined) return;
    if (entry.tnx === 'server') this.onReply();
    const conversation = this.conversations.get(entry.sid);
    if (conversation !== undefined) conversation.note(entry.tnx, text);
    else if (entry.tnx === 'network' && entry.localPort !== undefined)
      this.begin(entry.sid, this.sockets.get(placeOf(entry)));
  }

  private begin(sid: string, socket: WatchedSocket | undefined): void {
    if (socket !== undefined && !socket.destroyed)
      this.conversations.set(sid, new Conversation(socket, this.answerMsMax));
  }
}

class Conversation {
  /** Pending replies, oldest first. Commands are pipelined (RFC 2920), and the timer is for the oldest. */
  private readonly waits: SmtpWait[] = ['greeting'];
  private timer: NodeJS.Timeout | undefined;
  private sentBytes = 0;

  constructor(
    readonly socket: WatchedSocket,
    private readonly answerMsMax: number,
  ) {
    this.wait();
  }

  note(kind: string | undefined, text: string): void {
    if (kind === 'client') this.asked(text);
    else if (kind === 'server') this.answered(text);
    else if (kind === 'message') this.sentAll();
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private asked(command: string): void {
    this.waits.push(waitAfter(command));
    if (this.waits.length === 1) this.wait();
  }

  private answered(reply: string): void {
    const wait = this.waits.shift();
    if (wait === 'data' && reply.startsWith('3')) this.waits.unshift('block');
    this.wait();
  }

  private sentAll(): void {
    this.waits[0] = 'final-dot';
    this.wait();
  }

  private wait(): void {
    clearTimeout(this.timer);
    const [wait] = this.waits;
    if (wait === undefined) return;
    this.sentBytes = this.taken;
    this.timer = setTimeout(() => this.late(wait), waitMs(wait, this.answerMsMax));
    // The timer need not keep the process alive, because a stopping process waits for its attempts.
    this.timer.unref();
  }

  /** Runs when the timer fires. Restarts it if a slow message is still being sent. Otherwise ends the conversation. */
  private late(wait: SmtpWait): void {
    if (wait === 'block' && this.taken > this.sentBytes) this.wait();
    else
      this.socket.destroy(Object.assign(new Error('The mail server did not answer in time.'), { code: 'ETIMEDOUT' }));
  }

  private get taken(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }
}

const placeOf = ({
  localPort,
  remoteAddress,
  remotePort,
}: Pick<WatchedSocket, 'localPort' | 'remoteAddress' | 'remotePort'>): string =>
  `${localPort} ${remoteAddress} ${remotePort}`;
