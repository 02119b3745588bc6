export const JOB_STATES = ['pending', 'running', 'completed', 'stopped', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Filters of the job list, as in the address. */
export interface JobFilters {
  state?: JobState;
}

/** Reads the filters from an address. Ignores invalid values. */
export function readJobFilters(search: Readonly<Record<string, unknown>>): JobFilters {
  const state = JOB_STATES.find((each) => each === search['state']);
  return state === undefined ? {} : { state };
}
