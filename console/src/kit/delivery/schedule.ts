/** One attempt of a retry schedule, with the longest possible waits. */
export interface Step {
  /** Number of the attempt, starting at 1. */
  attempt: number;
  /** Longest wait before the attempt. */
  waitSeconds: number;
  /** Time between the first attempt and this attempt, in seconds. */
  afterSeconds: number;
}

/** Returns all attempts of a retry policy. If there are more attempts than waits, the last wait is repeated. */
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
