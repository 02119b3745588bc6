import type { Environment, Schemas } from '../api/client';

type Concern = Pick<Schemas['ConcernItem'], 'type' | 'subject' | 'url'>;

/** Path of a screen in the console, and its query parameters. */
export interface Place {
  to: string;
  search: Record<string, string>;
}

/** Current problems of one target, domain, job, or of the whole environment (`subject` is null). */
export interface ConcernGroup<T> {
  subject: string | null;
  concerns: T[];
}

/** Groups problems by the resource that they affect. Keeps their order, most serious first. */
export function groupBySubject<T extends { subject: string | null }>(concerns: readonly T[]): ConcernGroup<T>[] {
  const groups = new Map<string | null, T[]>();
  for (const concern of concerns) {
    const known = groups.get(concern.subject);
    if (known === undefined) groups.set(concern.subject, [concern]);
    else known.push(concern);
  }
  return [...groups].map(([subject, all]) => ({ subject, concerns: all }));
}

/** Returns the screen on which the user can fix a problem, or null if no screen shows the affected resource. */
export function placeOfConcern(
  { type, subject, url }: Concern,
  env: Environment,
  placeOf: (id: string) => string | null,
): Place | null {
  const events = (search: Record<string, string>): Place => ({ to: `/${env}/events`, search });
  // The target of a problem with the mail transport has no screen.
  const [, status] = /^\/v1\/emails\?status=(\w+)$/.exec(url) ?? [];
  if (status !== undefined) return { to: `/${env}/emails`, search: { status } };
  if (subject === null) return events({ status: 'retrying' });
  if (type === 'verification.failing') return { to: `/${env}/endpoints/${subject}`, search: {} };
  if (type === 'dead_letters.growing')
    return events({ [subject.startsWith('dst_') ? 'destination' : 'endpoint']: subject, status: 'dlq' });
  const place = placeOf(subject);
  if (place !== null) return { to: place, search: {} };
  const [, application, endpoint] = /\/v1\/app\/(app_[0-9A-Z]+)\/endpoints\/(ep_[0-9A-Z]+)/.exec(url) ?? [];
  return application === undefined || endpoint === undefined
    ? null
    : { to: `/${env}/applications/${application}/endpoints/${endpoint}`, search: {} };
}

/** Returns the reason in the API's sentence about a disabled target, or null if the sentence has none. */
export function reasonIn(sentence: string): string | null {
  return /until it is enabled: (.+)$/s.exec(sentence)?.[1] ?? null;
}
