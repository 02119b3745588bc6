import { emptyTimeoutHistory, isIsolated, recordAttemptEnd, type TimeoutHistory } from '#engine/timeout-isolation.js';

/** What is known here of a target in the lane. */
export interface IsolatedTarget {
  environmentId: number;
  /** Its attempts that ended by their deadline since it answered last; Infinity for one that never did. */
  unanswered: number;
  /** It waits here for a place. */
  isHeldBack: boolean;
}

interface Environment<Target> {
  silence: TimeoutHistory;
  /** Attempts under way at targets that were not known to answer when they began. */
  running: number;
  /** Since when those are waited for in vain: the last answer of one of them, or when the first began. */
  sinceMs: number;
  /** Targets with something to start, in the order in which they came. */
  waiting: Set<Target>;
}

/** Of the places of a process, for targets of one environment that are not known to answer while hardly one of them does. */
const PART = 0.25;
/** With more than that part under way, and not one answered for so long, their deadlines need not pass first. */
const VAIN_MS = 3_000;
/** Who answered before is believed to do so again until then. */
const UNANSWERED_MAX = 3;
/** Who hangs is alone, and may have everything, once nobody was answered for so long: who was here a moment ago may come back. */
const OTHERS_MS = 60_000;
/** Environments that are remembered while nothing of theirs runs or waits. */
const REMEMBERED_MAX = 10_000;

/**
 * Receivers that never answer, each at an address of its own, teach neither a window nor a circuit anything: every attempt is the first
 * at its target, and waits for its whole deadline. Where those of an environment end like that, and others are answered, they
 * have a quarter of the places at most, so that what they cost (connections opened and closed, results written, seconds of waiting) is
 * taken neither from the neighbours nor from those of its own that answer.
 */
export class TimeoutIsolation<Target extends IsolatedTarget> {
  private readonly environments = new Map<number, Environment<Target>>();
  private heardAtMs = -Infinity;
  private held = 0;

  constructor(private readonly nowMs: () => number) {}

  /** Targets that are held back now. */
  get heldBack(): number {
    return this.held;
  }

  /** Whether one more attempt at the target may begin, with `max` places in all. */
  admits(target: Target, max: number): boolean {
    if (hasResponded(target)) return true;
    const environment = this.environments.get(target.environmentId);
    return environment === undefined || environment.running < partOf(max) || !this.isLimited(environment);
  }

  /** An attempt at the target begins; returns whether it is one that counts here, which its end has to be told with. */
  onStart(target: Target): boolean {
    if (hasResponded(target)) return false;
    const environment = this.environment(target.environmentId);
    if (environment.running === 0) environment.sinceMs = this.nowMs();
    environment.running += 1;
    return true;
  }

  /** `isCounted`: as its beginning said. `isAnswered`: null where nothing was sent. */
  onEnd(target: Target, isCounted: boolean, isAnswered: boolean | null): void {
    if (isCounted) this.environment(target.environmentId).running -= 1;
    if (isAnswered === null) return;
    const nowMs = this.nowMs();
    if (isAnswered) this.heardAtMs = nowMs;
    target.unanswered = isAnswered ? 0 : target.unanswered + 1;
    // Those that are known to answer say nothing of those that are not.
    if (!isCounted && isAnswered) return;
    const environment = this.environment(target.environmentId);
    if (isAnswered) environment.sinceMs = nowMs;
    recordAttemptEnd(environment.silence, isAnswered, nowMs);
  }

  /** Has the target wait, at the end; who waits already keeps its place. */
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

  /** Environments of which something waits. */
  waiting(): number[] {
    if (this.held === 0) return [];
    return [...this.environments].filter(([, { waiting }]) => waiting.size > 0).map(([environmentId]) => environmentId);
  }

  /** Takes out who of the environment waits longest. */
  next(environmentId: number): Target | null {
    const waiting = this.environments.get(environmentId)?.waiting;
    if (waiting === undefined || waiting.size === 0) return null;
    const [target] = waiting as Iterable<Target> as [Target];
    this.removeWaiter(target);
    return target;
  }

  /** Attempts that may begin now, of `max` places in all, at targets of the environment that are not known to answer. */
  room(environmentId: number, max: number): number {
    const environment = this.environments.get(environmentId);
    return environment !== undefined && this.isLimited(environment) ? partOf(max) - environment.running : Infinity;
  }

  private isLimited({ silence, sinceMs }: Environment<Target>): boolean {
    const nowMs = this.nowMs();
    if (nowMs - this.heardAtMs > OTHERS_MS) return false;
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

/** Whether the target is known to answer. */
export function hasResponded({ unanswered }: Pick<IsolatedTarget, 'unanswered'>): boolean {
  return unanswered < UNANSWERED_MAX;
}

const partOf = (max: number): number => Math.max(1, Math.floor(max * PART));
