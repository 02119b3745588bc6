import { clientNetwork } from '#http/client-network.js';
import type { AcceptedRecipient } from '#modules/inbox/contract.js';
import type { SmtpLimits } from './limits.js';

/** A message that is coming in. */
export interface Arriving {
  /** Bytes so far, and whether the client owes more. */
  progress: () => { bytes: number; isOpen: boolean };
  /** When the stretch began that is being judged, by the monotonic clock, and what had come by then. */
  sinceMs: number;
  sinceBytes: number;
}

/** What is known of one connection. */
export interface Conversation {
  network: string;
  startedMs: number;
  /** Over a limit from the start: it is told so, and ended. */
  isTooMany: boolean;
  commands: number;
  refused: number;
  /** Recipients of the transaction of now, by the address as it was given. */
  recipients: Map<string, AcceptedRecipient>;
  arriving: Arriving | null;
  /** Whether its message is being stored: it is told what came of that before anything else. */
  isStoring: boolean;
}

/** Why a conversation is ended, and what the client is told. */
export interface Ending {
  code: 421;
  text: string;
}

const TOO_OLD: Ending = { code: 421, text: '4.4.2 The connection has lasted for too long, connect again.' };
const TOO_SLOW: Ending = { code: 421, text: '4.4.2 The message comes too slowly.' };
const TOO_MANY_COMMANDS: Ending = { code: 421, text: '4.7.0 Too many commands without a message.' };
const TOO_MANY_REFUSED: Ending = { code: 421, text: '4.7.0 Too many recipients that do not exist.' };

/**
 * The connections of a listener, counted and timed. Pure but for what it remembers: it opens and ends nothing itself.
 */
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

  /** One more command came; an ending when that is enough. */
  commanded(conversation: Conversation): Ending | null {
    conversation.commands += 1;
    return conversation.commands > this.limits.commandsWithoutMail ? TOO_MANY_COMMANDS : null;
  }

  /** One more recipient was refused: an ending, or for how long the answer is held back. */
  refused(conversation: Conversation): Ending | { delayMs: number } {
    conversation.refused += 1;
    if (conversation.refused > this.limits.refusedRecipients) return TOO_MANY_REFUSED;
    return { delayMs: Math.min(Math.max(0, conversation.refused - 5) * 100, 2_000) };
  }

  /** A message was taken: what came before it was not for nothing. */
  delivered(conversation: Conversation): void {
    conversation.commands = 0;
  }

  /** Those that have lasted for too long, or whose message comes too slowly; none while its message is being stored. */
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
