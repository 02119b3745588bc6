import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { unavailable } from '#kernel/errors.js';
import { type CallEnd, type CallLimits, CallThread } from '#sandbox/call-thread.js';
import { type JobEnd, ThreadSlot, type ThreadSlotOptions } from '#sandbox/thread-slot.js';
import { MailPace } from '../intake/mail-pace.js';
import type { SealOptions } from './arc-seal.js';
import { runUntil } from './deadline-call.js';
import type { AttachmentNote, ParsedMessage } from './parsed-message.js';
import type { FoundKeys, Signatures } from './signatures.js';

export type MailCall =
  | { kind: 'signatures'; raw: Uint8Array; keys: FoundKeys }
  | { kind: 'parse'; raw: Uint8Array; derivesText: boolean }
  | { kind: 'read'; raw: Uint8Array; keys: FoundKeys }
  | { kind: 'seal'; raw: Uint8Array; options: SealOptions }
  | { kind: 'attachment'; raw: Uint8Array; index: number }
  | { kind: 'document'; raw: Uint8Array };

/** Result of a call to a parsing thread. `failed` describes how the parser failed on the message. */
export type MailAnswer =
  | { kind: 'signatures'; signatures: Signatures }
  | { kind: 'parsed'; message: ParsedMessage }
  | ({ kind: 'read' } & ReadAll)
  | { kind: 'sealed'; headers: string | null }
  | { kind: 'attachment'; attachment: { note: AttachmentNote; content: Uint8Array } | null }
  | { kind: 'document'; document: Uint8Array | null }
  | { kind: 'failed'; sentence: string };

/** A result, or in `fault` a sentence that describes what is wrong with the message. */
export type Read<A> = A | { fault: string };

export interface ReadAll {
  signatures: Read<Signatures>;
  message: Read<ParsedMessage>;
}

const THREADS_MAX = 3;
/**
 * Maximum number of threads per environment. Less than `THREADS_MAX`, so that no environment uses all threads. While
 * mail is limited in favor of deliveries, the maximum is one, because starting a thread costs more than reading a
 * hundred messages.
 */
const THREADS_PER_ENVIRONMENT_MAX = 2;
/** Limits of one call. Elapsed time has a higher limit than CPU time, because other work may be using the CPU. */
const LIMITS = { cpuMsMax: 20_000, wallMsMax: 30_000 };
const HEAP_MB_MAX = 512;
const IDLE_MS_MAX = 30_000;
/** Maximum wait for a free thread. */
const WAIT_MS_MAX = 60_000;

/**
 * Runs the parser on threads. Limits each call, so that a harmful message does not affect others. Ends idle threads.
 */
@Injectable()
export class MailThreads implements OnApplicationShutdown {
  private readonly threadSlot: ThreadSlot<MailCall, MailAnswer>;

  constructor(pace: MailPace) {
    const options: ThreadSlotOptions<MailCall, MailAnswer> = {
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

  /** Returns the file and limits of the worker thread. Tests override this method. */
  protected reader(): { file: URL; limits: CallLimits; heapMbMax: number } {
    return { file: new URL('./mail-worker.js', import.meta.url), limits: LIMITS, heapMbMax: HEAP_MB_MAX };
  }

  /** Reads signatures and contents in one call or, if that fails, in two. Throws 503 if no thread is free. */
  async read(environmentId: number, raw: Buffer, keys: FoundKeys): Promise<ReadAll> {
    const untilMs = performance.now() + WAIT_MS_MAX;
    const both = await this.ask(environmentId, { kind: 'read', raw, keys }, untilMs);
    if (both.kind === 'read') return both;
    // Perhaps only the signatures or only the contents exceeded the time or memory limit. In a separate call, the other
    // part can still succeed.
    const verified = await this.ask(environmentId, { kind: 'signatures', raw, keys }, untilMs);
    const parsed = await this.ask(environmentId, { kind: 'parse', raw, derivesText: true }, untilMs);
    return {
      signatures: verified.kind === 'signatures' ? verified.signatures : faultOf(verified),
      message: parsed.kind === 'parsed' ? parsed.message : faultOf(parsed),
    };
  }

  /** Returns the header fields of an ARC set, or null if sealing is impossible. Throws 503 if no thread is free. */
  async seal(environmentId: number, raw: Buffer, options: SealOptions): Promise<string | null> {
    const answer = await this.ask(environmentId, { kind: 'seal', raw, options }, performance.now() + WAIT_MS_MAX);
    return answer.kind === 'sealed' ? answer.headers : null;
  }

  /** Returns the attachment, or null if there is no such attachment. Throws 503 if no thread is free. */
  async attachment(
    environmentId: number,
    raw: Buffer,
    index: number,
  ): Promise<{ note: AttachmentNote; content: Uint8Array } | null> {
    const answer = await this.ask(environmentId, { kind: 'attachment', raw, index });
    return answer.kind === 'attachment' ? answer.attachment : null;
  }

  /**
   * Returns the parsed contents, with no text derived from HTML. Null if the parser fails on the message. Throws 503 if
   * no thread is free.
   */
  async contents(environmentId: number, raw: Buffer): Promise<ParsedMessage | null> {
    const answer = await this.ask(environmentId, { kind: 'parse', raw, derivesText: false });
    return answer.kind === 'parsed' ? answer.message : null;
  }

  /** Returns the HTML. Null if the message has none or the parser fails on it. Throws 503 if no thread is free. */
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
 * Parsing thread. Reports a crash as a failure of the message, because the message would crash the parser again. A
 * thread that fails to start does not count as a failure of the message.
 */
class ReaderThread extends CallThread<MailCall, MailAnswer> {
  override async run(call: MailCall, limits: CallLimits): Promise<CallEnd<MailAnswer>> {
    const end = await super.run(call, limits);
    return end.answer === null && end.why === 'crashed'
      ? { answer: { kind: 'failed', sentence: 'It crashed the parser.' }, cpuMs: end.cpuMs }
      : end;
  }
}

/** Returns the result of a call, including failures that the message caused. Throws other failures. */
function answerOf(end: JobEnd<MailAnswer>): MailAnswer {
  if (end.answer !== null) return end.answer;
  if (end.why === 'timeout') return { kind: 'failed', sentence: 'It took too long to read.' };
  if (end.why === 'memory') return { kind: 'failed', sentence: 'It took too much memory to read.' };
  throw unavailable('Too much mail is being read. Try again.');
}

function faultOf(answer: MailAnswer): { fault: string } {
  return { fault: answer.kind === 'failed' ? answer.sentence : 'It could not be read.' };
}
