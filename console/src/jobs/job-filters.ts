export const JOB_STATES = ['pending', 'running', 'completed', 'stopped', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Which jobs are listed, as the address says it. */
export interface JobFilters {
  state?: JobState;
}

/** The filters of an address; what is none is left out. */
export function readJobFilters(search: Readonly<Record<string, unknown>>): JobFilters {
  const state = JOB_STATES.find((each) => each === search['state']);
  return state === undefined ? {} : { state };
}
