import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import type { Arrival } from './checker.js';

/** The receiver's progress: the number of different messages answered with 200, and the number of all requests. */
export interface Progress {
  delivered: number;
  arrivals: number;
}

/** A request with the number of its destination, and whether it is a replay or has a timestamp five minutes off. */
export interface Received extends Arrival {
  destination: number;
  isReplayed: boolean;
  isMisdated: boolean;
}

/** Misbehavior of a receiver: no answer, an endless header, a 500 to every other request, a reset, or a late 200. */
export type Misbehaviour = 'hang' | 'trickle' | 'flap' | 'reset' | 'slow';

/** The receiver, in a process that the tests never kill. It has one URL and one signing secret per destination. */
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

  /**
   * Starts a receiver. With `isCalm`, it answers 200 to everything. Otherwise, the seed chooses the messages whose
   * first attempt fails.
   */
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

  /** Returns the URL of the destination whose secret has the same index. */
  url(destination: number): string {
    return `http://127.0.0.1:${this.port}/${destination}`;
  }

  progress(): Promise<Progress> {
    return this.ask('progress') as Promise<Progress>;
  }

  /** Returns every request that the receiver has got so far. */
  record(): Promise<Received[]> {
    return this.ask('record') as Promise<Received[]>;
  }

  /** Returns every request since the last call of `take`. */
  take(): Promise<Received[]> {
    return this.ask('take') as Promise<Received[]>;
  }

  /**
   * Makes a destination misbehave. With null, the destination behaves normally again. Resolves with the number of times
   * that destinations have misbehaved so far.
   */
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
