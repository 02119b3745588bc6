export const JOB_STATES = ['pending', 'running', 'completed', 'stopped', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Filters of the job list, as in the page's URL. */
export interface JobFilters {
  state?: JobState;
}

/** Reads the filters from the query parameters of the page's URL. Ignores invalid values. */
export function readJobFilters(search: Readonly<Record<string, unknown>>): JobFilters {
  const state = JOB_STATES.find((each) => each === search['state']);
  return state === undefined ? {} : { state };
}
