import { type ComponentType, createElement, type ReactNode, use } from 'react';

/** A lazily loaded component. `preload` starts loading its file and rejects if loading fails. */
export type LazyPart<Props> = ((props: Props) => ReactNode) & { preload: () => Promise<void> };

/** A file of the console that could not be loaded, after all retries. */
export class PartNotLoaded extends Error {}

/** Pauses before the retries of loading a file. */
const PAUSES_MS = [300, 700, 1_500, 3_000];
/** Minimum time that a failure is shown. React renders again at once, and this render must not start a new attempt. */
const SHOWN_MS = 300;

/** Callbacks that are called after a file is loaded, and after each failed attempt to load it. */
export interface LoadWatch {
  loaded(): void;
  failed(isLastTry: boolean): Promise<void>;
}

let watch: LoadWatch = { loaded: () => undefined, failed: () => Promise.resolve() };

export function watchLoads(next: LoadWatch): void {
  watch = next;
}

/** Returns a component whose file is loaded with retries. After a failure, the next `preload` or render starts over. */
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
