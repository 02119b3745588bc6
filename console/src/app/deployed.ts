import { deployment, ownScripts, ownSession } from '../api/client';
import { noteReplaced, noteSilence, onReachability, reachability } from '../api/reachability';

/** Interval of the requests that check whether an unreachable service responds again. */
const ASK_EVERY_MS = 4_000;
/** Time after which a hidden page, when it is shown again, checks whether its version is still current. */
const AWAY_MS = 60_000;

/**
 * Checks whether the service responds again after an outage, and whether its version has changed. After a version
 * change, the next click on a link loads the new page.
 */
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

/**
 * Makes a click on a link load the link's target from the service while the page is outdated. Forms that a user fills
 * in are not interrupted.
 */
function loadInstead(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
  const { isReplaced, silentSince } = reachability();
  // During an outage, the browser would show its own error page instead of the link's target.
  if (!isReplaced || silentSince !== null || link === null || link.origin !== location.origin || link.target !== '')
    return;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  location.assign(link.href);
}

/** Key in the browser's storage. Its value is the build for which this tab was reloaded because of a missing file. */
const RELOADED = 'posthorn.reloaded';

/**
 * Handles a file that could not be loaded.
 *
 * During an outage, the page waits for the service. After a version change, the page is reloaded. It is also reloaded
 * if loading keeps failing although the service responds, because some browsers cache the failure.
 */
export async function afterMissingFile(isLastTry: boolean): Promise<void> {
  const state = await deployment();
  if (state === 'unknown') return noteSilence();
  if (state === 'other' || isLastTry) await reloadOnce();
}

/** Allows another automatic reload of the page, because a file was loaded. */
export function afterLoadedFile(): void {
  try {
    sessionStorage.removeItem(RELOADED);
  } catch {
    // Without session storage, the page never reloads automatically.
  }
}

/** Reloads the page at most once per build, to avoid endless reloads. A file that loads later permits a new reload. */
async function reloadOnce(): Promise<void> {
  const build = ownScripts().join(' ');
  try {
    if (sessionStorage.getItem(RELOADED) === build) return;
    sessionStorage.setItem(RELOADED, build);
  } catch {
    return;
  }
  location.reload();
  // Never resolves, because the reload is about to replace the page.
  await new Promise<never>(() => undefined);
}
