import { Injectable } from '@nestjs/common';
import { AlreadyAnswered, type StoredAnswer } from '#kernel/idempotency.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { DeduplicationStore } from '#modules/ledger/deduplication.store.js';
import { AcceptReceived, type VerifiedRequest } from './accepting.js';
import { repeatKey } from './deduplication-key.js';
import type { LiveEndpoint } from './live-endpoint.js';
import type { PipelineResult } from './pipeline-result.js';
import { firstAnswer, keptForDuplicates } from './received-answer.js';

const HOURS_A_DAY = 24;
const HOUR_MS = 3_600_000;

/**
 * Detects requests that a provider sent again, if the endpoint enables this.
 *
 * Of several requests with the same id, the first one that commits an event is processed, and all others are
 * duplicates. This also applies to requests that arrive simultaneously in different processes. A rejected or failed
 * request does not reserve its id.
 */
@Injectable()
export class RequestDeduplication {
  /** The last request in flight for each id in this process. The next request with the id waits for it. */
  private readonly lines = new Map<string, Promise<unknown>>();

  constructor(
    private readonly deduplication: DeduplicationStore,
    private readonly acceptReceived: AcceptReceived,
    private readonly environments: Environments,
  ) {}

  /**
   * Runs `first` if the request is not a duplicate, and returns its result. Returns the stored response for a
   * duplicate. Rethrows the errors of `first`. Throws 503 if the database is unavailable.
   */
  async once(
    endpoint: LiveEndpoint,
    dedupeId: string,
    verified: VerifiedRequest,
    first: () => Promise<PipelineResult['answer']>,
  ): Promise<PipelineResult> {
    const request = repeatKey(endpoint, dedupeId);
    return this.serialize(`${request.environmentId} ${request.route} ${request.key}`, async () => {
      // The duplicate check runs first, so that transforms and proxies do not run for a known duplicate.
      const known = await this.deduplication.findAnswer(request);
      if (known !== null) return this.answerDuplicate(endpoint, verified, known);
      verified.idempotency = {
        request,
        keeps: (id, answer) => keptForDuplicates(answer, id),
        ttlMs: await this.windowMs(endpoint),
      };
      try {
        const answer = await first();
        return { eventId: answer === 'unavailable' ? null : verified.id, answer, isDuplicate: false };
      } catch (error) {
        if (error instanceof AlreadyAnswered) return await this.answerDuplicate(endpoint, verified, error.answer);
        throw error;
      }
    });
  }

  private async answerDuplicate(
    endpoint: LiveEndpoint,
    verified: VerifiedRequest,
    kept: StoredAnswer,
  ): Promise<PipelineResult> {
    const { eventId, answer } = firstAnswer(kept);
    await this.acceptReceived.keepDuplicate(endpoint, verified, eventId, answer);
    return { eventId, answer, isDuplicate: true };
  }

  /** Returns how long duplicates are detected. A shortened retention limits this time. */
  private async windowMs({ environmentId, deduplication }: LiveEndpoint): Promise<number> {
    const { retentionDays } = await this.environments.get(environmentId);
    return Math.min(deduplication?.windowMs ?? 0, retentionDays * HOURS_A_DAY * HOUR_MS);
  }

  /**
   * Runs requests with the same deduplication key one after another. Otherwise, a batch insert could contain the key
   * twice, which is not allowed.
   */
  private async serialize<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.lines.get(key) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.lines.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.lines.get(key) === turn) this.lines.delete(key);
    }
  }
}
