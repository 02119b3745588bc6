import { type Environment, type EventItem, ownSession, SERVICE } from './client';
import { noteAnswer, noteSilence } from './reachability';

/** What happened to an event, and the event as it is then. */
export interface ToldChange extends Omit<EventItem, 'attempt_count' | 'last_attempt' | 'next_attempt_at'> {
  attempt?: { number: number; status: number | null; error: string | null; at: string; next_attempt_at: string | null };
}

/** What the stream tells: changes of events, and that something between two times is not told. */
export interface StreamListeners {
  /** The stream has begun, or begun again: what happened before is for a list to say. */
  ready: () => void;
  changed: (kind: 'accepted' | 'attempt' | 'status', change: ToldChange) => void;
  gap: (between: { since: string | null; until: string }) => void;
}

/** A stream that ended for good (too many are open, a proxy's page instead of it) is opened again after this, and twice as long each time. */
const AGAIN_MS = 2_000;
const AGAIN_MS_MAX = 60_000;
/** A restart of the service is no silence: browsers come back within this. */
const SILENT_MS = 4_000;

/** Listens to events until what it answers with is called. Only while somebody looks: browsers open six connections to a host. */
export function listenToEvents(
  environment: Environment,
  filter: Readonly<Record<string, string>>,
  listeners: StreamListeners,
): () => void {
  let source: EventSource | null = null;
  let againMs = AGAIN_MS;
  let again: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(silence);
    silence = undefined;
  };
  const open = (): void => {
    source = streamOf(environment, filter, listeners);
    source.addEventListener('open', () => {
      heard();
      againMs = AGAIN_MS;
      noteAnswer(true);
    });
    source.addEventListener('error', () => {
      if (source?.readyState !== EventSource.CLOSED) {
        silence ??= setTimeout(noteSilence, SILENT_MS);
        return;
      }
      // It does not say why; another call is told.
      ownSession().catch(() => undefined);
      again = setTimeout(open, againMs);
      againMs = Math.min(againMs * 2, AGAIN_MS_MAX);
    });
  };
  const close = (): void => {
    heard();
    clearTimeout(again);
    source?.close();
    source = null;
  };
  const followVisibility = (): void => {
    if (document.visibilityState === 'hidden') close();
    else if (source === null) open();
  };
  document.addEventListener('visibilitychange', followVisibility);
  followVisibility();
  return () => {
    document.removeEventListener('visibilitychange', followVisibility);
    close();
  };
}

function streamOf(
  environment: Environment,
  filter: Readonly<Record<string, string>>,
  { ready, changed, gap }: StreamListeners,
): EventSource {
  const query = new URLSearchParams({ environment, ...filter });
  const source = new EventSource(`${SERVICE}v1/events/stream?${query.toString()}`);
  source.addEventListener('ready', ready);
  source.addEventListener('gap', (message: MessageEvent<string>) =>
    gap(JSON.parse(message.data) as { since: string | null; until: string }),
  );
  for (const kind of ['accepted', 'attempt', 'status'] as const) {
    source.addEventListener(kind, (message: MessageEvent<string>) =>
      changed(kind, JSON.parse(message.data) as ToldChange),
    );
  }
  return source;
}
