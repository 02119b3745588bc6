import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { unavailable } from '#kernel/errors.js';
import { type CallEnd, type CallLimits, CallThread } from '#sandbox/call-thread.js';
import { type JobEnd, ThreadSlot, type ThreadSlotOptions } from '#sandbox/thread-slot.js';
import { MailPace } from '../intake/mail-pace.js';
import type { SealOptions } from './arc-seal.js';
import { runUntil } from './deadline-call.js';
import type { ParsedAttachment, ParsedMessage } from './parsed-message.js';
import type { FoundKeys, Signatures } from './signatures.js';

export type MailCall =
  | { kind: 'signatures'; raw: Uint8Array; keys: FoundKeys }
  | { kind: 'parse'; raw: Uint8Array; isSent: boolean }
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
  | { kind: 'attachment'; attachment: { note: ParsedAttachment; content: Uint8Array } | null }
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
/**
 * Limits of one call, and of all calls that read one received message. Elapsed time has a higher limit than CPU time,
 * because other work may be using the CPU.
 */
const LIMITS = { cpuMsMax: 20_000, wallMsMax: 30_000 };
/** CPU limit of the first call that reads a received message. A small message needs only milliseconds. */
const READ_CPU_MS_MIN = 3_000;
const READ_CPU_MS_PER_MB = 2_000;
const MB = 1024 * 1024;
const HEAP_MB_MAX = 512;
const IDLE_MS_MAX = 30_000;
/** Maximum wait of one call for a free thread. */
const WAIT_MS_MAX = 60_000;

interface CallOptions {
  limits: CallLimits;
  waitMsMax: number;
}

interface ReaderOptions extends CallOptions {
  file: URL;
  heapMbMax: number;
}

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
  protected reader(): ReaderOptions {
    return {
      file: new URL('./mail-worker.js', import.meta.url),
      limits: LIMITS,
      heapMbMax: HEAP_MB_MAX,
      waitMsMax: WAIT_MS_MAX,
    };
  }

  /**
   * Reads signatures and contents in one call or, if that fails, in two. Throws 503 if no thread is free for the first
   * call. Throws another error if a call does not finish, or if no thread is free for a later call. The caller counts
   * such an attempt, because a message that is retried without a limit would delay other messages again and again.
   */
  async read(environmentId: number, raw: Buffer, keys: FoundKeys): Promise<ReadAll> {
    const { limits, waitMsMax } = this.reader();
    const cpuMsMax = Math.min(limits.cpuMsMax / 2, READ_CPU_MS_MIN + READ_CPU_MS_PER_MB * (raw.byteLength / MB));
    const waiting = { limits: { ...limits, cpuMsMax }, waitMsMax };
    const end = await this.run(environmentId, { kind: 'read', raw, keys }, waiting);
    if (end.answer === null && end.why === 'starved')
      throw new Error(`It was not read within ${limits.wallMsMax} ms, although it used little CPU time.`);
    const both = answerOf(end);
    if (both.kind === 'read') return both;
    // Perhaps only the signatures or only the contents exceeded the time or memory limit. In a separate call, the other
    // part can still succeed.
    const half = { limits: { ...limits, cpuMsMax: cpuMsMax / 2 }, waitMsMax };
    const again = (call: MailCall): Promise<MailAnswer> =>
      this.ask(environmentId, call, half).catch((error: unknown) => {
        throw new Error(`${faultOf(both).fault} No thread was free to read its parts.`, { cause: error });
      });
    const verified = await again({ kind: 'signatures', raw, keys });
    const parsed = await again({ kind: 'parse', raw, isSent: false });
    return {
      signatures: verified.kind === 'signatures' ? verified.signatures : faultOf(verified),
      message: parsed.kind === 'parsed' ? parsed.message : faultOf(parsed),
    };
  }

  /** Returns the header fields of an ARC set, or null if sealing is impossible. Throws 503 if no thread is free. */
  async seal(environmentId: number, raw: Buffer, options: SealOptions): Promise<string | null> {
    const answer = await this.ask(environmentId, { kind: 'seal', raw, options }, this.reader());
    return answer.kind === 'sealed' ? answer.headers : null;
  }

  /** Returns the attachment, or null if there is no such attachment. Throws 503 if no thread is free. */
  async attachment(
    environmentId: number,
    raw: Buffer,
    index: number,
  ): Promise<{ note: ParsedAttachment; content: Uint8Array } | null> {
    const answer = await this.ask(environmentId, { kind: 'attachment', raw, index });
    return answer.kind === 'attachment' ? answer.attachment : null;
  }

  /**
   * Returns the parsed contents of a sent message, with its text and HTML as they were given. Null if the parser fails on
   * the message. Throws 503 if no thread is free.
   */
  async contents(environmentId: number, raw: Buffer): Promise<ParsedMessage | null> {
    const answer = await this.ask(environmentId, { kind: 'parse', raw, isSent: true });
    return answer.kind === 'parsed' ? answer.message : null;
  }

  /** Returns the HTML. Null if the message has none or the parser fails on it. Throws 503 if no thread is free. */
  async document(environmentId: number, raw: Buffer): Promise<Uint8Array | null> {
    const answer = await this.ask(environmentId, { kind: 'document', raw });
    return answer.kind === 'document' ? answer.document : null;
  }

  private async ask(environmentId: number, call: MailCall, options?: CallOptions): Promise<MailAnswer> {
    return answerOf(await this.run(environmentId, call, options));
  }

  private run(
    environmentId: number,
    call: MailCall,
    { limits, waitMsMax }: CallOptions = { ...this.reader(), waitMsMax: 0 },
  ): Promise<JobEnd<MailAnswer>> {
    const job = { call, organization: String(environmentId), endpoint: '', limits, bytes: call.raw.byteLength };
    return runUntil(this.threadSlot, job, performance.now() + waitMsMax);
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
