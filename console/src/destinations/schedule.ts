/** One attempt of a retry schedule, at its latest possible time. */
export interface Step {
  /** Number of the attempt, starting at 1. */
  attempt: number;
  /** Longest wait before the attempt. */
  waitSeconds: number;
  /** Time since the first attempt. */
  afterSeconds: number;
}

/** Returns every attempt that a policy allows. Attempts beyond the end of the schedule use the schedule's last wait. */
export function stepsOf({
  schedule,
  max_attempts: attempts,
}: {
  schedule: readonly number[];
  max_attempts: number;
}): Step[] {
  const steps: Step[] = [];
  let afterSeconds = 0;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const waitSeconds = schedule[attempt - 1] ?? schedule.at(-1) ?? 0;
    afterSeconds += waitSeconds;
    steps.push({ attempt, waitSeconds, afterSeconds });
  }
  return steps;
}
