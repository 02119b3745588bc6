/** One attempt of a retry schedule, at the latest that it may be made. */
export interface Step {
  /** Counted from 1. */
  attempt: number;
  /** The longest wait before it. */
  waitSeconds: number;
  /** How long after the first attempt it is. */
  afterSeconds: number;
}

/** Every attempt that a policy allows: the last wait of the schedule repeats. */
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
