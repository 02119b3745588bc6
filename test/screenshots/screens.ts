import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Ids } from './fill.js';

const APP = path.resolve(import.meta.dirname, '..', '..', 'console', 'src', 'app');

/** Every screen of the console, by its path below the environment. `{name}` stands for the id of an object. */
export const SCREENS: readonly string[] = [
  'overview',
  'events',
  'events/{event}',
  'send',
  'destinations',
  'destinations/{destination}',
  'destinations/{destination}/edit',
  'endpoints',
  'endpoints/{endpoint}',
  'endpoints/{endpoint}/requests',
  'endpoints/{endpoint}/requests/{request}',
  'endpoints/{endpoint}/routes',
  'endpoints/{endpoint}/transform',
  'endpoints/{endpoint}/answers',
  'endpoints/{endpoint}/replay',
  'endpoints/{endpoint}/settings',
  'applications',
  'applications/{application}',
  'applications/{application}/endpoints',
  'applications/{application}/endpoints/{applicationEndpoint}',
  'applications/{application}/endpoints/{applicationEndpoint}/edit',
  'applications/{application}/messages',
  'applications/{application}/portal',
  'applications/{application}/repair',
  'applications/{application}/settings',
  'event-types',
  'event-types/{eventType}',
  'emails',
  'emails/{email}',
  'templates',
  'templates/{template}',
  'topics',
  'topics/{topic}',
  'inbox',
  'inbox/{alias}',
  'inbox/{alias}/{message}',
  'suppressions',
  'domains',
  'domains/{domain}',
  'pull',
  'jobs',
  'jobs/{job}',
  'secrets',
  'keys',
  'members',
  'sessions',
  'audit',
  'organization',
];

/** Returns the path of a screen with the ids of the objects, or null if an object does not exist. */
export function placeOf(screen: string, ids: Ids): string | null {
  let isComplete = true;
  const place = screen.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const id = ids[name as keyof Ids];
    isComplete &&= id !== undefined;
    return encodeURIComponent(id ?? '');
  });
  return isComplete ? place : null;
}

/** Returns the file name of a screen. */
export const fileOf = (screen: string): string => screen.replaceAll(/[{}]/g, '').replaceAll('/', '-');

/** Returns the paths that the console's router has and `SCREENS` lacks, and the other way round. */
export function differences(): { missing: string[]; unknown: string[] } {
  const routes = new Set(routesOf('routes.tsx').concat(routesOf('mail-routes.tsx')));
  const screens = new Set(SCREENS.map((screen) => screen.replaceAll(/\{\w+\}/g, '$')));
  return {
    missing: [...routes].filter((route) => !screens.has(route)),
    unknown: [...screens].filter((screen) => !routes.has(screen)),
  };
}

/** Returns the paths of the routes in a file below the environment, with `$` for each parameter. */
function routesOf(file: string): string[] {
  const source = readFileSync(path.join(APP, file), 'utf8');
  const paths = new Map<string, string>([['environment', '']]);
  const found: string[] = [];
  for (const [, name = '', parent = '', own = ''] of source.matchAll(
    /(?:const (\w+) = )?createRoute\(\{\s*getParentRoute: \(\) => (\w+),\s*path: '([^']*)'/g,
  )) {
    const above = paths.get(parent);
    if (above === undefined) continue;
    const whole = [above, own.replaceAll(/\$\w+/g, '$')].filter((part) => part !== '' && part !== '/').join('/');
    if (name !== '') paths.set(name, whole);
    if (whole !== '') found.push(whole);
  }
  return found;
}
