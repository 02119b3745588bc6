import { clientNetwork } from '#http/client-network.js';
import type { AcceptedRecipient } from '#modules/inbox/contract.js';
import type { SmtpLimits } from './limits.js';

export interface Arriving {
  /** Returns the number of received bytes of the message, and whether more bytes must follow. */
  progress: () => { bytes: number; isOpen: boolean };
  /** Start of the current interval of the speed check, on the monotonic clock, and the bytes received by then. */
  sinceMs: number;
  sinceBytes: number;
}

export interface Conversation {
  network: string;
  startedMs: number;
  /** True if the connection exceeded a limit when it opened. Such a connection gets a reply and is closed. */
  isTooMany: boolean;
  commands: number;
  refused: number;
  /** Recipients of the current transaction, by address in lower case. */
  recipients: Map<string, AcceptedRecipient>;
  arriving: Arriving | null;
  /** True while the message is being stored. Until the message is stored, no reply is sent. */
  isStoring: boolean;
}

export interface Ending {
  code: 421;
  text: string;
}

const TOO_OLD: Ending = { code: 421, text: '4.4.2 The connection has lasted for too long, connect again.' };
const TOO_SLOW: Ending = { code: 421, text: '4.4.2 The message is arriving too slowly.' };
const TOO_MANY_COMMANDS: Ending = { code: 421, text: '4.7.0 Too many commands without a message.' };
const TOO_MANY_REFUSED: Ending = { code: 421, text: '4.7.0 Too many recipients that do not exist.' };

/** State of the open SMTP conversations. Opens and closes no connections itself. */
export class Conversations {
  private readonly open = new Map<string, Conversation>();
  private readonly networks = new Map<string, number>();

  constructor(
    private readonly limits: SmtpLimits,
    private readonly nowMs: () => number,
  ) {}

  get count(): number {
    return this.open.size;
  }

  begin(id: string, address: string): Conversation {
    const network = clientNetwork(address);
    const ofNetwork = (this.networks.get(network) ?? 0) + 1;
    const conversation: Conversation = {
      network,
      startedMs: this.nowMs(),
      isTooMany: this.open.size >= this.limits.connections || ofNetwork > this.limits.connectionsPerNetwork,
      commands: 0,
      refused: 0,
      recipients: new Map(),
      arriving: null,
      isStoring: false,
    };
    this.networks.set(network, ofNetwork);
    this.open.set(id, conversation);
    return conversation;
  }

  find(id: string): Conversation | null {
    return this.open.get(id) ?? null;
  }

  end(id: string): void {
    const conversation = this.open.get(id);
    if (conversation === undefined) return;
    this.open.delete(id);
    const left = (this.networks.get(conversation.network) ?? 1) - 1;
    if (left === 0) this.networks.delete(conversation.network);
    else this.networks.set(conversation.network, left);
  }

  /** Counts a command. Returns the reply that ends the conversation if the limit is exceeded, otherwise null. */
  commanded(conversation: Conversation): Ending | null {
    conversation.commands += 1;
    return conversation.commands > this.limits.commandsWithoutMail ? TOO_MANY_COMMANDS : null;
  }

  /** Counts a refusal. Returns the reply that ends the conversation, or the delay before the reply is sent. */
  refused(conversation: Conversation): Ending | { delayMs: number } {
    conversation.refused += 1;
    if (conversation.refused > this.limits.refusedRecipients) return TOO_MANY_REFUSED;
    return { delayMs: Math.min(Math.max(0, conversation.refused - 5) * 100, 2_000) };
  }

  delivered(conversation: Conversation): void {
    conversation.commands = 0;
  }

  /**
   * Returns conversations that last too long, or whose client sends a message too slowly. Omits conversations whose
   * message is being stored.
   */
  overdue(): [id: string, ending: Ending][] {
    const nowMs = this.nowMs();
    const found: [string, Ending][] = [];
    for (const [id, conversation] of this.open) {
      if (conversation.isStoring) continue;
      if (nowMs - conversation.startedMs > this.limits.sessionMs) found.push([id, TOO_OLD]);
      else if (this.isSlow(conversation, nowMs)) found.push([id, TOO_SLOW]);
    }
    return found;
  }

  private isSlow({ arriving }: Conversation, nowMs: number): boolean {
    if (arriving === null || nowMs - arriving.sinceMs < this.limits.slowMs) return false;
    const { bytes, isOpen } = arriving.progress();
    if (isOpen && bytes - arriving.sinceBytes < this.limits.slowBytes) return true;
    arriving.sinceMs = nowMs;
    arriving.sinceBytes = bytes;
    return false;
  }
}
