import { type ComponentType, createElement, type ReactNode, use } from 'react';

/** A component that is loaded when it is needed. `preload` starts to load its file, and rejects if that fails. */
export type LazyPart<Props> = ((props: Props) => ReactNode) & { preload: () => Promise<void> };

/** Thrown if a file of the console could not be loaded after all retries. */
export class PartNotLoaded extends Error {}

/** Pauses before the retries of loading a file. */
const PAUSES_MS = [300, 700, 1_500, 3_000];
/**
 * Time after a failure in which no new attempt starts, so that the failure is shown. React renders again at once, which
 * would start one.
 */
const SHOWN_MS = 300;

/** Callbacks for a loaded file, and for each failed attempt to load a file. */
export interface LoadWatch {
  loaded(): void;
  failed(isLastTry: boolean): Promise<void>;
}

let watch: LoadWatch = { loaded: () => undefined, failed: () => Promise.resolve() };

export function watchLoads(next: LoadWatch): void {
  watch = next;
}

/** Returns a component whose file is loaded with retries. After a failure, the next `preload` or render tries again. */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  pausesMs: readonly number[] = PAUSES_MS,
): LazyPart<Props> {
  let component: ComponentType<Props> | null = null;
  let current: { promise: Promise<void>; failedAt: number | null } | null = null;
  const preload = (): Promise<void> => {
    if (current !== null && (current.failedAt === null || performance.now() - current.failedAt < SHOWN_MS))
      return current.promise;
    const mine: { promise: Promise<void>; failedAt: number | null } = {
      failedAt: null,
      promise: retried(load, pausesMs).then(
        (loaded) => void (component = loaded),
        (error: unknown) => {
          mine.failedAt = performance.now();
          throw error;
        },
      ),
    };
    current = mine;
    return mine.promise;
  };
  const Part = (props: Props): ReactNode => {
    if (component === null) use(preload());
    return createElement(component as ComponentType<Props>, props);
  };
  return Object.assign(Part, { preload });
}

async function retried<Loaded>(
  load: () => Promise<Loaded>,
  [pauseMs, ...pausesMs]: readonly number[],
): Promise<Loaded> {
  try {
    const loaded = await load();
    watch.loaded();
    return loaded;
  } catch (cause) {
    await watch.failed(pauseMs === undefined);
    if (pauseMs === undefined) throw new PartNotLoaded('This part of the page could not be loaded.', { cause });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    return retried(load, pausesMs);
  }
}
