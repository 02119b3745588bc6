import { type Environment, type EventItem, SERVICE } from './client';

/** What the stream tells: changes of events, and that something is not told. */
export interface StreamListeners {
  /** The stream has begun, or begun again: what happened before is for a list to say. */
  ready: () => void;
  changed: (kind: 'accepted' | 'attempt' | 'status', event: EventItem) => void;
  gap: () => void;
}

/** Listens to events until what it answers with is called. Only while somebody looks: browsers open six connections to a host. */
export function listenToEvents(environment: Environment, filter: Readonly<Record<string, string>>, listeners: StreamListeners): () => void {
  let source: EventSource | null = null;
  const open = (): void => {
    const query = new URLSearchParams({ environment, ...filter });
    source = new EventSource(`${SERVICE}v1/events/stream?${query.toString()}`);
    source.addEventListener('ready', listeners.ready);
    source.addEventListener('gap', listeners.gap);
    for (const kind of ['accepted', 'attempt', 'status'] as const) {
      source.addEventListener(kind, (message: MessageEvent<string>) => listeners.changed(kind, JSON.parse(message.data) as EventItem));
    }
  };
  const close = (): void => {
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
