import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import type { Arrival } from './checker.js';

/** How far the receiver has come: different messages that it answered with 200, and requests in all. */
export interface Progress {
  delivered: number;
  arrivals: number;
}

/** A request with where it went, as destinations are numbered, whether it says that it is a replay, and whether it is dated five minutes off. */
export interface Received extends Arrival {
  destination: number;
  isReplayed: boolean;
  isMisdated: boolean;
}

/** What a receiver does instead of answering at once: nothing, a header without an end, a 500 every other time, a reset, or a 200 that is late. */
export type Misbehaviour = 'hang' | 'trickle' | 'flap' | 'reset' | 'slow';

/** The receiver, in a process that nothing here kills. It has one URL and one signing secret per destination. */
export class ReceiverProcess {
  private tickets = 0;
  private readonly waiting = new Map<number, (answer: unknown) => void>();

  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
    readonly secrets: readonly string[],
  ) {
    child.on('message', ({ ticket, answer }: { ticket: number; answer: unknown }) => {
      this.waiting.get(ticket)?.(answer);
      this.waiting.delete(ticket);
    });
  }

  /** A calm receiver answers 200 to everything; otherwise a few first attempts fail, as the seed says, and more of them at the `flaky` ones. */
  static async start(options: {
    seed: number;
    destinations: number;
    flaky?: readonly number[];
    isCalm?: boolean;
  }): Promise<ReceiverProcess> {
    const secrets = Array.from({ length: options.destinations }, () => `whsec_${randomBytes(32).toString('base64')}`);
    const script = path.join(import.meta.dirname, 'receiver-process.mjs');
    const settings = JSON.stringify({
      seed: options.seed,
      secrets,
      flaky: options.flaky ?? [],
      isCalm: options.isCalm ?? false,
    });
    const child = fork(script, [settings], { serialization: 'advanced', execArgv: [] });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new ReceiverProcess(child, port, secrets);
  }

  /** Where the destination with the secret of the same index delivers. */
  url(destination: number): string {
    return `http://127.0.0.1:${this.port}/${destination}`;
  }

  progress(): Promise<Progress> {
    return this.ask('progress') as Promise<Progress>;
  }

  /** Every request so far. */
  record(): Promise<Received[]> {
    return this.ask('record') as Promise<Received[]>;
  }

  /** Every request since the last time that this was called. */
  take(): Promise<Received[]> {
    return this.ask('take') as Promise<Received[]>;
  }

  /** Makes a destination misbehave, or with null behave again. Resolves with how often any has misbehaved so far. */
  misbehave(destination: number, misbehaviour: Misbehaviour | null): Promise<number> {
    return this.ask('misbehave', { path: `/${destination}`, misbehaviour }) as Promise<number>;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.disconnect();
    await gone;
  }

  private ask(question: 'progress' | 'record' | 'take' | 'misbehave', given?: unknown): Promise<unknown> {
    const ticket = ++this.tickets;
    return new Promise((resolve) => {
      this.waiting.set(ticket, resolve);
      this.child.send({ ask: question, ticket, given });
    });
  }
}
