import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { dnsRetryDelayMs } from '#engine/mail/mail-verdicts.js';
import { Clock } from '#kernel/clock.js';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { HOUSEKEEPING, Loop, type LoopDelay } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';
import { Ids, showId } from '#kernel/ids.js';
import { MailArrivalSignal } from '../intake/mail-arrival-signal.js';
import { MailPace } from '../intake/mail-pace.js';
import { AcceptMessage } from './accept-message.js';
import { PipelineMetrics } from './pipeline.metrics.js';
import { ReadMessage, undecided } from './read-message.js';
import {
  DAYS_MAX,
  type Decided,
  LARGE_BYTES,
  WAITING_IN_MS,
  type WaitingMessage,
  WaitingMessagesStore,
} from './waiting-messages.store.js';

/** Maximum number of messages that one process reads concurrently. Most of them are waiting for name servers. */
const UNDER_WAY_MAX = 96;
/**
 * Maximum number of messages of one environment that are read at once, so that a flood or slow DNS does not delay
 * others.
 */
const OF_ONE_MAX = 24;
/**
 * Maximum total bytes of large messages in memory: one message of maximum size. Parsing takes several times as much
 * memory.
 */
const BYTES_MAX = 41 * 1024 * 1024;
/** Polling interval for messages that other processes received. */
const REST_MS = 500;
/**
 * Minimum time between claims, so that under load one statement claims many messages. A message that arrives while the
 * pipeline is idle is claimed without delay.
 */
const GAP_MS = 15;
const PACED_MS = 100;
/** Renewal interval of claims. A claim is renewed at least twice within its lease, even if one statement is slow. */
const RENEW_MS = 3_000;
const TRIES_MAX = 8;
const BACKOFF_MS_FIRST = 1_000;
const BACKOFF_MS_MAX = 600_000;
/**
 * Delay before a message is tried again because there was no capacity. A try without capacity does not count as failed.
 */
const BUSY_MS = 1_000;

/**
 * Checks and parses each received message, applies the policy, and creates the event. Runs in every process that
 * delivers.
 */
@Injectable()
export class MailPipeline implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Mail pipeline');
  private readonly loop: Loop;
  private readonly renewing: Loop;
  /** Messages being processed, with the monotonic time of their claim. */
  private readonly underWay = new Map<Promise<void>, { message: WaitingMessage; sinceMs: number }>();
  private readonly held = new Map<number, number>();
  private bytes = 0;
  private turnedMs = -Infinity;
  private sawAllMs = -Infinity;
  /**
   * Expiry days of recently claimed messages. Most claims search only these days, because most new messages expire on
   * them.
   */
  private readonly days = new Set<number>();
  private waking: NodeJS.Timeout | null = null;
  private isStopping = false;
  /** True if the last claim found nothing, and no new message has been signaled since. */
  private isIdle = false;

  constructor(
    private readonly store: WaitingMessagesStore,
    private readonly reading: ReadMessage,
    private readonly accepting: AcceptMessage,
    private readonly pace: MailPace,
    private readonly metrics: PipelineMetrics,
    private readonly arrivals: MailArrivalSignal,
    private readonly ids: Ids,
    private readonly config: Config,
    private readonly dueWork: DueWorkPoller,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop(
      'Mail pipeline',
      () => this.turn(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
    this.renewing = new Loop(
      'Mail claims',
      () => this.renew(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    if (!this.config.isWorker) return;
    const rung = (): void => {
      this.isIdle = false;
      this.wakeSoon();
    };
    this.arrivals.onArrival(rung);
    this.dueWork.register({ name: 'mail', inMs: WAITING_IN_MS, wake: rung });
    this.loop.start();
    this.renewing.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    if (this.waking) clearTimeout(this.waking);
    await this.loop.stop();
    await Promise.all(this.underWay.keys());
    await this.renewing.stop();
  }

  private async turn(): Promise<LoopDelay> {
    this.turnedMs = this.clock.monotonicMs();
    const free = UNDER_WAY_MAX - this.underWay.size;
    if (free <= 0) return { restMs: REST_MS };
    // An idle process polls twice per second. A claim would lock every partition with all its indexes each time, so a
    // cheaper query runs first.
    if (this.isIdle && !(await this.store.isAnyWaiting())) return { restMs: this.dueWork.restMs(REST_MS) };
    const limit = this.pace.readable(free);
    if (limit === 0) return { restMs: PACED_MS };
    const days =
      this.turnedMs - this.sawAllMs < REST_MS && this.days.size > 0 && this.days.size <= DAYS_MAX
        ? [...this.days]
        : null;
    const { messages, raced } = await this.store
      .claim({
        claim: this.ids.next(),
        limit,
        perEnvironmentMax: OF_ONE_MAX,
        held: this.held,
        bytesMax: Math.max(0, BYTES_MAX - this.bytes),
        days,
      })
      .catch((error: unknown) => {
        this.pace.read(limit, []);
        throw error;
      });
    this.pace.read(
      limit,
      messages.map(({ sizeBytes }) => sizeBytes),
    );
    if (days === null) {
      this.sawAllMs = this.turnedMs;
      this.days.clear();
    }
    for (const message of messages) {
      this.days.add(message.expiresOnDay);
      this.begin(message);
    }
    this.isIdle = days === null && messages.length === 0 && !raced;
    if (raced) this.wakeSoon();
    if (messages.length === limit && limit < free) return { restMs: PACED_MS };
    if (this.isIdle) return { restMs: this.dueWork.restMs(REST_MS) };
    // If this claim searched only recent expiry days, other messages may be waiting. Returns the time until the next
    // claim over all days.
    return { restMs: Math.max(0, this.sawAllMs + REST_MS - this.turnedMs) };
  }

  /** Schedules a claim after a short delay, so that several calls cause only one claim. */
  private wakeSoon(): void {
    if (this.isStopping || this.waking !== null) return;
    this.waking = setTimeout(
      () => {
        this.waking = null;
        this.loop.wake();
      },
      Math.max(0, this.turnedMs + GAP_MS - this.clock.monotonicMs()),
    );
  }

  private begin(message: WaitingMessage): void {
    const { environmentId, sizeBytes } = message;
    this.hold(environmentId, 1, sizeBytes);
    const working = this.process(message).finally(() => {
      this.hold(environmentId, -1, -sizeBytes);
      this.underWay.delete(working);
      // The finished message frees capacity for another message, possibly of the same environment.
      this.wakeSoon();
    });
    this.underWay.set(working, { message, sinceMs: this.turnedMs });
  }

  private async renew(): Promise<LoopDelay> {
    const beforeMs = this.clock.monotonicMs() - RENEW_MS;
    const long = [...this.underWay.values()].filter(({ sinceMs }) => sinceMs <= beforeMs).map(({ message }) => message);
    if (long.length > 0) await this.store.renew(long);
    return { restMs: RENEW_MS };
  }

  private hold(environmentId: number, count: 1 | -1, bytes: number): void {
    const held = (this.held.get(environmentId) ?? 0) + count;
    if (held > 0) this.held.set(environmentId, held);
    else this.held.delete(environmentId);
    if (Math.abs(bytes) > LARGE_BYTES) this.bytes += bytes;
  }

  /** Processes a message. Never rejects: after a failure, any process can retry the message. */
  private async process(message: WaitingMessage): Promise<void> {
    try {
      await this.handle(message);
    } catch (error) {
      const isBusy = error instanceof ApiError && error.type === 'unavailable';
      const afterMs = isBusy ? BUSY_MS : Math.min(BACKOFF_MS_FIRST * 2 ** message.tries, BACKOFF_MS_MAX);
      this.metrics.became(isBusy ? 'busy' : 'failed');
      if (!isBusy)
        this.logger.error(
          `Message ${showId('evt', message.id)} failed, next try in ${afterMs} ms: ${(error as Error).message}`,
        );
      // If this update fails as well, the claim expires and another process retries the message.
      await this.store.putBack(message, afterMs, !isBusy).catch(() => undefined);
    }
  }

  private async handle(message: WaitingMessage): Promise<void> {
    const decided = message.decided ?? (await this.decide(message));
    if (decided === null) return this.metrics.became('deferred');
    const isAccepted = await this.accepting.accept(message, decided);
    this.metrics.became(isAccepted ? (decided.reason ?? (decided.detail.isParked ? 'parked' : 'accepted')) : 'gone');
  }

  /** Returns the decision, or null if the message is delayed until name servers may have recovered. */
  private async decide(message: WaitingMessage): Promise<Decided | null> {
    if (message.tries > TRIES_MAX) return undecided(message, `It could not be read in ${TRIES_MAX} tries.`);
    const read = await this.reading.read(message);
    // A message whose bytes were deleted is kept as a record that it was received.
    if (read === null) return undecided(message, 'Its bytes have been deleted.');
    const delayMs = read.mayChange ? dnsRetryDelayMs(message.unansweredForMs, this.config.mailDnsRetryMs) : null;
    return delayMs !== null && (await this.store.awaitDns(message, delayMs)) ? null : read.decided;
  }
}
