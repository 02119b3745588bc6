/** Messages from the portal to the embedding page. They never contain data of the portal. */
export type HostMessage =
  { type: 'ready' } | { type: 'resize'; height: number } | { type: 'expired' } | { type: 'changed'; endpoint: string };

const META = 'meta[name="posthorn-portal-origins"]';

/** Returns the origins that may embed this page, as listed in the page's HTML. The service blocks all other origins. */
export function hostOrigins(): readonly string[] {
  const content = document.querySelector(META)?.getAttribute('content') ?? '';
  return content.split(' ').filter((origin) => origin !== '');
}

export const isFramed = (): boolean => window.parent !== window;

/**
 * Sends a message to the embedding page. Addresses the message to the origin of the embedding page and never to `*`. If
 * the browser does not report that origin, sends the message to each allowed origin.
 */
export function postToHost(message: HostMessage): void {
  if (!isFramed()) return;
  const [parent] = ancestors();
  const allowed = hostOrigins();
  const to = parent === undefined ? allowed : allowed.filter((origin) => origin === parent);
  for (const origin of to) window.parent.postMessage({ source: 'posthorn-portal', ...message }, origin);
}

/**
 * Calls the listener with each token from the embedding page. Ignores messages of other kinds and messages from other
 * senders. Returns a function that unsubscribes.
 */
export function onToken(listener: (token: string) => void): () => void {
  const onMessage = ({ source, origin, data }: MessageEvent<unknown>): void => {
    if (!isFramed() || source !== window.parent || !hostOrigins().includes(origin)) return;
    if (typeof data !== 'object' || data === null) return;
    const { source: from, type, token } = data as Record<string, unknown>;
    if (from === 'posthorn-host' && type === 'token' && typeof token === 'string') listener(token);
  };
  window.addEventListener('message', onMessage);
  return () => window.removeEventListener('message', onMessage);
}

/** Reports each change of the content height to the embedding page. Returns a function that stops the reports. */
export function postHeight(of: Element): () => void {
  let last = 0;
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(of.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    postToHost({ type: 'resize', height });
  });
  observer.observe(of);
  return () => observer.disconnect();
}

function ancestors(): readonly string[] {
  const { ancestorOrigins } = location as Location & { ancestorOrigins?: DOMStringList };
  return ancestorOrigins === undefined ? [] : [...ancestorOrigins];
}
