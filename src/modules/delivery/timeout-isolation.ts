import { emptyTimeoutHistory, isIsolated, recordAttemptEnd, type TimeoutHistory } from '#engine/timeout-isolation.js';

export interface IsolatedTarget {
  environmentId: number;
  /** Number of attempts that timed out since the target's last response; Infinity if it has never responded. */
  unanswered: number;
  /** True if the target waits in the isolation queue for a slot. */
  isHeldBack: boolean;
}

interface Environment<Target> {
  silence: TimeoutHistory;
  /** Number of attempts in flight whose target did not count as responsive when the attempt began. */
  running: number;
  /**
   * Time of the last response from a target that did not count as responsive. If no attempt at such a target is in
   * flight, the start of the next one replaces it.
   */
  sinceMs: number;
  /** Targets that are held back by the limit, in order of arrival. Each has a delivery to start. */
  waiting: Set<Target>;
}

/**
 * Maximum share of all slots for an environment's targets that do not count as responsive. Applies while few or none of
 * these targets respond.
 */
const PART = 0.25;
/**
 * The slots of targets that do not count as responsive are limited if none of these targets responds for this time. The
 * limit does not require that an attempt has timed out.
 */
const VAIN_MS = 3_000;
/** Number of consecutive timeouts after which a target that has responded no longer counts as responsive. */
const UNANSWERED_MAX = 3;
/**
 * If no target of any tenant responds for this time, the limit is lifted, because no other tenant needs the slots. The
 * time is long, because an idle tenant may become active again.
 */
const OTHERS_MS = 60_000;
const REMEMBERED_MAX = 10_000;

/**
 * Limits the slots of an environment whose receivers only time out.
 *
 * Concurrency windows and circuit breakers do not protect against many unresponsive receivers at different addresses:
 * each attempt is the first one at its target, and waits for its full timeout.
 *
 * While other targets respond, the environment gets at most a quarter of the slots. The cost of its attempts (opening
 * and closing connections, writing results, seconds of waiting) then affects neither other tenants nor its own
 * responsive targets.
 */
export class TimeoutIsolation<Target extends IsolatedTarget> {
  private readonly environments = new Map<number, Environment<Target>>();
  private respondedAtMs = -Infinity;
  private held = 0;

  constructor(private readonly nowMs: () => number) {}

  get heldBack(): number {
    return this.held;
  }

  /** Returns true if one more attempt at the target may begin. `max` is the total number of slots. */
  admits(target: Target, max: number): boolean {
    if (hasResponded(target)) return true;
    const environment = this.environments.get(target.environmentId);
    return environment === undefined || environment.running < partOf(max) || !this.isLimited(environment);
  }

  /**
   * Records the start of an attempt. Returns true if the attempt counts toward the limit; pass this value to `onEnd`.
   */
  onStart(target: Target): boolean {
    if (hasResponded(target)) return false;
    const environment = this.environment(target.environmentId);
    if (environment.running === 0) environment.sinceMs = this.nowMs();
    environment.running += 1;
    return true;
  }

  /** Records the end of an attempt. `isCounted`: the result of `onStart`. `isAnswered`: null if nothing was sent. */
  onEnd(target: Target, isCounted: boolean, isAnswered: boolean | null): void {
    if (isCounted) this.environment(target.environmentId).running -= 1;
    if (isAnswered === null) return;
    const nowMs = this.nowMs();
    if (isAnswered) this.respondedAtMs = nowMs;
    target.unanswered = isAnswered ? 0 : target.unanswered + 1;
    // A response from a target that already counted as responsive is not recorded, because it says nothing about the
    // unresponsive ones.
    if (!isCounted && isAnswered) return;
    const environment = this.environment(target.environmentId);
    if (isAnswered) environment.sinceMs = nowMs;
    recordAttemptEnd(environment.silence, isAnswered, nowMs);
  }

  /** Appends the target to the queue. A target that is already in the queue keeps its position. */
  wait(target: Target): void {
    this.environment(target.environmentId).waiting.add(target);
    if (!target.isHeldBack) this.held += 1;
    target.isHeldBack = true;
  }

  removeWaiter(target: Target): void {
    if (!target.isHeldBack) return;
    target.isHeldBack = false;
    this.held -= 1;
    this.environments.get(target.environmentId)?.waiting.delete(target);
  }

  waiting(): number[] {
    if (this.held === 0) return [];
    return [...this.environments].filter(([, { waiting }]) => waiting.size > 0).map(([environmentId]) => environmentId);
  }

  /** Removes and returns the environment's longest-waiting target. */
  next(environmentId: number): Target | null {
    const waiting = this.environments.get(environmentId)?.waiting;
    if (waiting === undefined || waiting.size === 0) return null;
    const [target] = waiting as Iterable<Target> as [Target];
    this.removeWaiter(target);
    return target;
  }

  /**
   * Returns how many attempts may begin at targets that do not count as responsive. `max` is the total number of slots.
   */
  room(environmentId: number, max: number): number {
    const environment = this.environments.get(environmentId);
    return environment !== undefined && this.isLimited(environment) ? partOf(max) - environment.running : Infinity;
  }

  private isLimited({ silence, sinceMs }: Environment<Target>): boolean {
    const nowMs = this.nowMs();
    if (nowMs - this.respondedAtMs > OTHERS_MS) return false;
    return nowMs - sinceMs > VAIN_MS || isIsolated(silence, nowMs);
  }

  private environment(environmentId: number): Environment<Target> {
    let environment = this.environments.get(environmentId);
    if (environment === undefined) {
      if (this.environments.size >= REMEMBERED_MAX) this.forgetOne();
      this.environments.set(
        environmentId,
        (environment = { silence: emptyTimeoutHistory(), running: 0, sinceMs: -Infinity, waiting: new Set() }),
      );
    }
    return environment;
  }

  private forgetOne(): void {
    for (const [environmentId, { running, waiting }] of this.environments) {
      if (running > 0 || waiting.size > 0) continue;
      this.environments.delete(environmentId);
      return;
    }
  }
}

export function hasResponded({ unanswered }: Pick<IsolatedTarget, 'unanswered'>): boolean {
  return unanswered < UNANSWERED_MAX;
}

const partOf = (max: number): number => Math.max(1, Math.floor(max * PART));
