import type { mountPortal as Mount, Portal, PortalOptions, PortalState } from '../../public/embed/portal';

/** A new portal session. `POST /v1/app/{app}/portal` returns it to the backend of the embedding page. */
type Opened = { url: string; token: string };

const RETRY_MS = [1_000, 5_000, 15_000];

/**
 * Shows the customer portal in a frame inside `element`. The frame grows with its content.
 *
 * Calls `open` to get a token from the embedding page's backend: now, and again before each token expires. If the first
 * call fails, an error text and a retry button replace the frame. If a later call fails, the frame keeps its content
 * and shows that its session has ended. Calls `onState` after both kinds of failure.
 */
export const mountPortal: typeof Mount = (
  element,
  {
    open,
    title = 'Webhooks',
    minHeight = 320,
    failedText = 'This cannot be shown right now.',
    retryText = 'Try again',
    onState,
    onChange,
  }: PortalOptions,
): Portal => {
  const frame = document.createElement('iframe');
  let origin = '';
  let isGone = false;
  let isAsking = false;
  const notify = (state: PortalState): void => onState?.(state);

  async function asked(): Promise<Opened | null> {
    for (let i = 0; !isGone; i += 1) {
      try {
        return await open();
      } catch {
        const wait = RETRY_MS[i];
        if (wait === undefined) break;
        await new Promise((resume) => setTimeout(resume, wait));
      }
    }
    return null;
  }

  async function renew(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    const opened = await asked();
    isAsking = false;
    if (isGone) return;
    if (opened === null) return notify('failed');
    frame.contentWindow?.postMessage({ source: 'posthorn-host', type: 'token', token: opened.token }, origin);
    notify('ready');
  }

  function onMessage({ source, origin: from, data }: MessageEvent): void {
    if (
      source !== frame.contentWindow ||
      from !== origin ||
      (data as { source?: unknown } | null)?.source !== 'posthorn-portal'
    )
      return;
    const { type, height, endpoint } = data as { type: string; height?: number; endpoint?: string };
    if (type === 'ready') notify('ready');
    if (type === 'resize' && typeof height === 'number')
      frame.style.height = `${Math.max(minHeight, Math.min(height, 20_000))}px`;
    if (type === 'changed' && typeof endpoint === 'string') onChange?.(endpoint);
    if (type === 'expired') {
      notify('renewing');
      void renew();
    }
  }

  function begin(): void {
    sorry.remove();
    notify('loading');
    void asked().then((opened) => {
      if (isGone) return;
      if (opened === null) {
        element.append(sorry);
        return notify('failed');
      }
      origin = new URL(opened.url).origin;
      frame.src = opened.url;
      element.append(frame);
    });
  }

  frame.title = title;
  Object.assign(frame.style, { width: '100%', height: `${minHeight}px`, border: '0', display: 'block' });
  addEventListener('message', onMessage);
  const sorry = document.createElement('div');
  const again = document.createElement('button');
  sorry.setAttribute('role', 'alert');
  sorry.append(`${failedText} `, again);
  again.type = 'button';
  again.textContent = retryText;
  again.onclick = begin;
  begin();
  return {
    unmount() {
      isGone = true;
      removeEventListener('message', onMessage);
      frame.remove();
      sorry.remove();
    },
  };
};
