/** What the portal tells the page that shows it in a frame; never anything of its contents. */
export type Told =
  { type: 'ready' } | { type: 'resize'; height: number } | { type: 'expired' } | { type: 'changed'; endpoint: string };

const META = 'meta[name="posthorn-portal-origins"]';

/** The origins that may frame this page, as the service says in it: nobody else can. */
export function hostOrigins(): readonly string[] {
  const content = document.querySelector(META)?.getAttribute('content') ?? '';
  return content.split(' ').filter((origin) => origin !== '');
}

export const isFramed = (): boolean => window.parent !== window;

/** Tells the page around this one, at the origin that it has: never to `*`. Where browsers do not say which one that is, each is tried. */
export function tellHost(told: Told): void {
  if (!isFramed()) return;
  const [parent] = ancestors();
  const allowed = hostOrigins();
  const to = parent === undefined ? allowed : allowed.filter((origin) => origin === parent);
  for (const origin of to) window.parent.postMessage({ source: 'posthorn-portal', ...told }, origin);
}

/** Calls back with each token that the page around this one hands over; answers with what ends that. Nothing else is taken, and from nobody else. */
export function onToken(listener: (token: string) => void): () => void {
  const hear = ({ source, origin, data }: MessageEvent<unknown>): void => {
    if (!isFramed() || source !== window.parent || !hostOrigins().includes(origin)) return;
    if (typeof data !== 'object' || data === null) return;
    const { source: from, type, token } = data as Record<string, unknown>;
    if (from === 'posthorn-host' && type === 'token' && typeof token === 'string') listener(token);
  };
  window.addEventListener('message', hear);
  return () => window.removeEventListener('message', hear);
}

/** Tells the height that the page would have, whenever it changes. */
export function tellHeight(of: Element): () => void {
  let last = 0;
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(of.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    tellHost({ type: 'resize', height });
  });
  observer.observe(of);
  return () => observer.disconnect();
}

function ancestors(): readonly string[] {
  const { ancestorOrigins } = location as Location & { ancestorOrigins?: DOMStringList };
  return ancestorOrigins === undefined ? [] : [...ancestorOrigins];
}
