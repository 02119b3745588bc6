import { deployment, ownScripts, ownSession } from '../api/client';
import { noteReplaced, noteSilence, onReachability, reachability } from '../api/reachability';

/** Interval between requests that check whether the service responds again after an outage. */
const ASK_EVERY_MS = 4_000;
/** A page that was hidden for at least this time checks its version when it becomes visible again. */
const AWAY_MS = 60_000;

/**
 * Detects the end of an outage, and the deployment of another version. After such a deployment, the next click on a
 * link loads the new version.
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
    const isSilent = reachability().outage !== null;
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
 * Loads the target of a clicked link from the service if this page is outdated. The page is not reloaded before a
 * click, so that forms are not interrupted.
 */
function loadInstead(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
  const { isReplaced, outage } = reachability();
  // During an outage, leaves the click to the router. A page load would show the error page of the browser.
  if (!isReplaced || outage !== null || link === null || link.origin !== location.origin || link.target !== '') return;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  location.assign(link.href);
}

/** Key in the session storage. Its value is the build for which this tab was already reloaded. */
const RELOADED = 'posthorn.reloaded';

/**
 * Handles a file that could not be loaded. During an outage, the page waits for the service. After the deployment of
 * another version, the page is reloaded. It is also reloaded on the last try, because some browsers cache a failed
 * load.
 */
export async function afterMissingFile(isLastTry: boolean): Promise<void> {
  const state = await deployment();
  if (state === 'unknown') return noteSilence();
  if (state === 'other' || isLastTry) await reloadOnce();
}

/** Allows another automatic reload, because a file was loaded successfully. */
export function afterLoadedFile(): void {
  try {
    sessionStorage.removeItem(RELOADED);
  } catch {
    // Without session storage, the page never reloads automatically.
  }
}

/** Reloads the page at most once per build, to avoid endless reloads. `afterLoadedFile` permits another reload. */
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
