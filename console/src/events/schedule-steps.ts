const STEPS_SHOWN = 12;

/** One attempt of a retry schedule. */
export interface ScheduleStep {
  number: number;
  state: 'made' | 'next' | 'ahead';
  /** Longest wait before the attempt. */
  seconds: number;
}

/** Returns the attempts of a schedule. If the schedule is long, returns only those around the current attempt. */
export function stepsOf(
  { max_attempts: max, schedule }: { max_attempts: number; schedule: readonly number[] },
  made: number,
  goesOn: boolean,
): ScheduleStep[] {
  const steps = Array.from({ length: Math.max(max, made) }, (_, at): ScheduleStep => ({
    number: at + 1,
    state: at < made ? 'made' : at === made && goesOn ? 'next' : 'ahead',
    seconds: schedule[Math.min(at, schedule.length - 1)] ?? 0,
  }));
  const from = Math.max(0, Math.min(made - STEPS_SHOWN / 2, steps.length - STEPS_SHOWN));
  return steps.slice(from, from + STEPS_SHOWN);
}
