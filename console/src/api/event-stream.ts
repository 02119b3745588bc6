import { type Environment, type EventItem, ownSession, SERVICE } from './client';
import { noteSilence, noteStream } from './reachability';

/** A change to an event, and the event's state after the change. */
export interface StreamedChange extends Omit<EventItem, 'attempt_count' | 'last_attempt' | 'next_attempt_at'> {
  attempt?: { number: number; status: number | null; error: string | null; at: string; next_attempt_at: string | null };
}

/** Callbacks for changes to events, and for gaps in which the service sent no changes. */
export interface StreamListeners {
  /** Called when the stream has started or restarted. The stream does not contain earlier changes. */
  ready: () => void;
  changed: (kind: 'accepted' | 'attempt' | 'status', change: StreamedChange) => void;
  gap: (between: { since: string | null; until: string }) => void;
}

/**
 * Wait before the console reopens a stream that was refused, for example because too many streams are open. Browsers do
 * not reopen such a stream. The wait doubles with each failure.
 */
const AGAIN_MS = 2_000;
const AGAIN_MS_MAX = 60_000;
/** Time without a stream before an outage is reported. Browsers reconnect within this time after a service restart. */
const SILENT_MS = 4_000;

/**
 * Opens the event stream and returns a function that closes it. The stream is open only while the page is visible,
 * because browsers open at most six connections to a host.
 */
export function listenToEvents(
  environment: Environment,
  filter: Readonly<Record<string, string>>,
  listeners: StreamListeners,
): () => void {
  let source: EventSource | null = null;
  let againMs = AGAIN_MS;
  let again: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const onActivity = (): void => {
    clearTimeout(silence);
    silence = undefined;
  };
  const open = (): void => {
    source = streamOf(environment, filter, listeners);
    source.addEventListener('open', () => {
      onActivity();
      againMs = AGAIN_MS;
      noteStream();
    });
    source.addEventListener('error', () => {
      if (source?.readyState !== EventSource.CLOSED) {
        silence ??= setTimeout(noteSilence, SILENT_MS);
        return;
      }
      // The stream does not give the reason for its failure. This call detects and reports reasons such as an expired
      // session.
      ownSession().catch(() => undefined);
      again = setTimeout(open, againMs);
      againMs = Math.min(againMs * 2, AGAIN_MS_MAX);
    });
  };
  const close = (): void => {
    onActivity();
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
  const on = (kind: string, act: (data: string) => void): void =>
    source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
      noteStream();
      act(data);
    });
  on('ready', ready);
  on('gap', (data) => gap(JSON.parse(data) as { since: string | null; until: string }));
  for (const kind of ['accepted', 'attempt', 'status'] as const)
    on(kind, (data) => changed(kind, JSON.parse(data) as StreamedChange));
  return source;
}
