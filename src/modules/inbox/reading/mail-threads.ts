import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { unavailable } from '#kernel/errors.js';
import { type CallEnd, type CallLimits, CallThread } from '#sandbox/call-thread.js';
import { type JobEnd, type LaneOptions, ThreadSlot } from '#sandbox/lane.js';
import { MailPace } from '../intake/mail-pace.js';
import { runUntil } from './deadline-call.js';
import type { AttachmentNote, ParsedMessage } from './parsed-message.js';
import type { FoundKeys, Signatures } from './signatures.js';

/** What a thread is asked. */
export type MailCall =
  | { kind: 'signatures'; raw: Uint8Array; keys: FoundKeys }
  | { kind: 'parse'; raw: Uint8Array }
  | { kind: 'read'; raw: Uint8Array; keys: FoundKeys }
  | { kind: 'attachment'; raw: Uint8Array; index: number }
  | { kind: 'document'; raw: Uint8Array };

/** What it answers; `failed` is what the message did to the parser. */
export type MailAnswer =
  | { kind: 'signatures'; signatures: Signatures }
  | { kind: 'parsed'; message: ParsedMessage }
  | ({ kind: 'read' } & ReadAll)
  | { kind: 'attachment'; attachment: { note: AttachmentNote; content: Uint8Array } | null }
  | { kind: 'document'; document: Uint8Array | null }
  | { kind: 'failed'; sentence: string };

/** What came of a call: an answer, or a sentence on what the message did. */
export type Read<A> = A | { fault: string };

/** Both that a message is read for. */
export interface ReadAll {
  signatures: Read<Signatures>;
  message: Read<ParsedMessage>;
}

const THREADS_MAX = 3;
/**
 * One environment never has all of them; one alone where mail yields, since to start a thread costs more than to read a
 * hundred messages.
 */
const THREADS_PER_ENVIRONMENT_MAX = 2;
/** CPU time for one call, and how long it may take where the machine has none. */
const LIMITS = { cpuMsMax: 20_000, wallMsMax: 30_000 };
const HEAP_MB_MAX = 512;
const IDLE_MS_MAX = 30_000;
/** A message that finds no thread waits, until then: with what its calls take it stays within the time of its claim. */
const PATIENCE_MS = 60_000;

/**
 * Reads messages on threads, with an end to every call: whatever a message holds, it costs that call and nothing else.
 * They start when mail comes, and end when none does.
 */
@Injectable()
export class MailThreads implements OnApplicationShutdown {
  private readonly threadSlot: ThreadSlot<MailCall, MailAnswer>;

  constructor(pace: MailPace) {
    const options: LaneOptions<MailCall, MailAnswer> = {
      threadsMax: THREADS_MAX,
      admits: (use, environment) => use.ofOrganization(environment) < (pace.isRoomy ? THREADS_PER_ENVIRONMENT_MAX : 1),
      startThread: async () =>
        new ReaderThread({
          file: this.reader().file,
          workerData: null,
          resourceLimits: { maxOldGenerationSizeMb: this.reader().heapMbMax },
        }),
      idleMsMax: IDLE_MS_MAX,
    };
    this.threadSlot = new ThreadSlot(options);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.threadSlot.close();
  }

  /** What reads, and what one call of it may cost. */
  protected reader(): { file: URL; limits: CallLimits; heapMbMax: number } {
    return { file: new URL('./mail-worker.js', import.meta.url), limits: LIMITS, heapMbMax: HEAP_MB_MAX };
  }

  /**
   * The signatures and the text of a message, in one call where neither does it harm. Throws 503 where there is no room
   * within a minute.
   */
  async read(environmentId: number, raw: Buffer, keys: FoundKeys): Promise<ReadAll> {
    const untilMs = performance.now() + PATIENCE_MS;
    const both = await this.ask(environmentId, { kind: 'read', raw, keys }, untilMs);
    if (both.kind === 'read') return both;
    // Too much time or memory for one of the two: the other one is still to be had.
    const verified = await this.ask(environmentId, { kind: 'signatures', raw, keys }, untilMs);
    const parsed = await this.ask(environmentId, { kind: 'parse', raw }, untilMs);
    return {
      signatures: verified.kind === 'signatures' ? verified.signatures : faultOf(verified),
      message: parsed.kind === 'parsed' ? parsed.message : faultOf(parsed),
    };
  }

  /** Null where there is no such attachment. Throws 503 where there is no room now. */
  async attachment(
    environmentId: number,
    raw: Buffer,
    index: number,
  ): Promise<{ note: AttachmentNote; content: Uint8Array } | null> {
    const answer = await this.ask(environmentId, { kind: 'attachment', raw, index });
    return answer.kind === 'attachment' ? answer.attachment : null;
  }

  /** What it says; null for one that does its reader harm. Throws 503 where there is no room now. */
  async contents(environmentId: number, raw: Buffer): Promise<ParsedMessage | null> {
    const answer = await this.ask(environmentId, { kind: 'parse', raw });
    return answer.kind === 'parsed' ? answer.message : null;
  }

  /**
   * Its HTML as a document; null without any, and for one that does its reader harm. Throws 503 where there is no room
   * now.
   */
  async document(environmentId: number, raw: Buffer): Promise<Uint8Array | null> {
    const answer = await this.ask(environmentId, { kind: 'document', raw });
    return answer.kind === 'document' ? answer.document : null;
  }

  private async ask(environmentId: number, call: MailCall, untilMs = 0): Promise<MailAnswer> {
    const job = {
      call,
      organization: String(environmentId),
      endpoint: '',
      limits: this.reader().limits,
      bytes: call.raw.byteLength,
    };
    return answerOf(await runUntil(this.threadSlot, job, untilMs));
  }
}

/**
 * What a call of it ends with is what the message did: tried again it would do the same, without end. A thread that
 * never came up is something else.
 */
class ReaderThread extends CallThread<MailCall, MailAnswer> {
  override async run(call: MailCall, limits: CallLimits): Promise<CallEnd<MailAnswer>> {
    const end = await super.run(call, limits);
    return end.answer === null && end.why === 'crashed'
      ? { answer: { kind: 'failed', sentence: 'It broke what read it.' }, cpuMs: end.cpuMs }
      : end;
  }
}

/** What ended it lies with the message, or else with this machine: then it is tried again. */
function answerOf(end: JobEnd<MailAnswer>): MailAnswer {
  if (end.answer !== null) return end.answer;
  if (end.why === 'timeout') return { kind: 'failed', sentence: 'It took too long to read.' };
  if (end.why === 'memory') return { kind: 'failed', sentence: 'It took too much memory to read.' };
  throw unavailable('Too much mail is being read. Try again.');
}

function faultOf(answer: MailAnswer): { fault: string } {
  return { fault: answer.kind === 'failed' ? answer.sentence : 'It could not be read.' };
}
