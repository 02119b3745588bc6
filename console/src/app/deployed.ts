import { deployment, ownScripts, ownSession } from '../api/client';
import { noteReplaced, noteSilence, onReachability, reachability } from '../api/reachability';

/** So often a service that does not answer is asked whether it does again. */
const ASK_EVERY_MS = 4_000;
/** A page that nobody looked at for so long asks whether it is still the one. */
const AWAY_MS = 60_000;

/** Follows the service: asks whether it is back, then whether it is still the same version, and lets the next click load a new one. */
export function followService(cameBack: () => void): void {
  let wasSilent = false;
  let timer: ReturnType<typeof setInterval> | undefined;
  let hiddenAt = 0;
  const compare = (): void =>
    void deployment().then((state) => {
      if (state === 'other') noteReplaced();
    });
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
  document.addEventListener('click', loadInstead, true);
}

/** A link that is clicked while the page is of an old version is followed by the browser itself; a form that somebody fills in is left alone. */
function loadInstead(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
  const { isReplaced, silentSince } = reachability();
  // A page that cannot be loaded would be the browser's own error page.
  if (!isReplaced || silentSince !== null || link === null || link.origin !== location.origin || link.target !== '')
    return;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  location.assign(link.href);
}

/** The build for which this tab was reloaded because a file was missing. */
const RELOADED = 'posthorn.reloaded';

/**
 * Decides what a file that could not be loaded means. While the service is away, the page waits for it. A file that is gone with its version
 * needs the new page. So does a failure that stays although the service answers: some browsers remember it.
 */
export async function afterMissingFile(isLastTry: boolean): Promise<void> {
  const state = await deployment();
  if (state === 'unknown') return noteSilence();
  if (state === 'other' || isLastTry) await reloadOnce();
}

/** Allows the next reload: a file was loaded. */
export function afterLoadedFile(): void {
  try {
    sessionStorage.removeItem(RELOADED);
  } catch {
    // A browser that keeps nothing never reloads by itself.
  }
}

/** Reloads the page, unless that was done for this build since a file was loaded: no page may reload for ever. */
async function reloadOnce(): Promise<void> {
  const build = ownScripts().join(' ');
  try {
    if (sessionStorage.getItem(RELOADED) === build) return;
    sessionStorage.setItem(RELOADED, build);
  } catch {
    return;
  }
  location.reload();
  // The page is about to go.
  await new Promise<never>(() => undefined);
}
