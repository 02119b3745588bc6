import { isStillDeployed, ownSession } from '../api/client';
import { noteReplaced, onReachability, reachability } from '../api/reachability';

/** So often a service that does not answer is asked whether it does again. */
const ASK_EVERY_MS = 4_000;
/** A page that nobody looked at for so long asks whether it is still the one. */
const AWAY_MS = 60_000;

/** Follows the service: asks whether it is back, then whether it is still the same version, and lets the next click load a new one. */
export function followService(cameBack: () => void): void {
  let wasSilent = false;
  let timer: ReturnType<typeof setInterval> | undefined;
  let hiddenAt = 0;
  const compare = (): void => void isStillDeployed().then((isSame) => { if (!isSame) noteReplaced(); }, () => undefined);
  onReachability(() => {
    const isSilent = reachability().silentSince !== null;
    if (isSilent === wasSilent) return;
    wasSilent = isSilent;
    clearInterval(timer);
    if (isSilent) {
      timer = setInterval(() => void ownSession().catch(() => undefined), ASK_EVERY_MS);
    } else {
      cameBack();
      compare();
    }
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') hiddenAt = performance.now();
    else if (performance.now() - hiddenAt > AWAY_MS) compare();
  });
  // Its file of another screen is not there: it says so, and that screen is loaded as a page.
  window.addEventListener('vite:preloadError', noteReplaced);
  document.addEventListener('click', loadInstead, true);
}

/** A link that is clicked while the page is of an old version is followed by the browser itself; a form that somebody fills in is left alone. */
function loadInstead(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
  if (!reachability().isReplaced || link === null || link.origin !== location.origin || link.target !== '') return;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  location.assign(link.href);
}
