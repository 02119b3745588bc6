import type { Environment, Schemas } from '../api/client';

type Concern = Pick<Schemas['ConcernItem'], 'type' | 'subject' | 'url'>;

/** Returns the path of the resource that a problem affects, or of its events. Returns null if it has no screen. */
export function placeOfConcern(
  { type, subject, url }: Concern,
  env: Environment,
  placeOf: (id: string) => string | null,
): { to: string; search: Record<string, string> } | null {
  const events = (search: Record<string, string>): { to: string; search: Record<string, string> } => ({
    to: `/${env}/events`,
    search,
  });
  if (subject === null) return events({ status: 'retrying' });
  if (type === 'verification.failing') return events({ endpoint: subject, status: 'quarantined' });
  if (type === 'dead_letters.growing' && subject.startsWith('dst_'))
    return events({ destination: subject, status: 'dlq' });
  const place = placeOf(subject);
  if (place !== null) return { to: place, search: {} };
  // Links an application's endpoint to the events of the application.
  const application = /\/v1\/app\/(app_[0-9A-Z]+)\//.exec(url)?.[1];
  return application === undefined
    ? null
    : events({ application, ...(type === 'dead_letters.growing' && { status: 'dlq' }) });
}
