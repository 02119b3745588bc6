import type { Environment } from '../api/client';

/** Path of a screen, relative to the base path of the console. */
export type Place = `/${Environment}/${string}`;

/** Matches an id of the API, which ends with 26 characters of Crockford's base 32. */
const ID = /^(evt|msg|req|dst|rpj|app|dom|al|tpl|top)_([0-9A-HJKMNP-TV-Z]{26})(?:\.\d+)?$/i;

/**
 * Returns the path of the screen for an id, or null for other text. The id of a received request opens its event, which
 * has the same ULID.
 */
export function placeOfId(text: string, environment: Environment): Place | null {
  const [, prefix = '', ulid = ''] = ID.exec(text.trim()) ?? [];
  switch (prefix.toLowerCase()) {
    case 'evt':
    case 'req':
      return `/${environment}/events/evt_${ulid.toUpperCase()}`;
    case 'msg':
      return `/${environment}/events/msg_${ulid.toUpperCase()}`;
    case 'dst':
      return `/${environment}/destinations/dst_${ulid.toUpperCase()}`;
    case 'rpj':
      return `/${environment}/jobs/rpj_${ulid.toUpperCase()}`;
    case 'app':
      return `/${environment}/applications/app_${ulid.toUpperCase()}`;
    case 'dom':
      return `/${environment}/domains/dom_${ulid.toUpperCase()}`;
    case 'al':
      return `/${environment}/inbox/al_${ulid.toUpperCase()}`;
    case 'tpl':
      return `/${environment}/templates/tpl_${ulid.toUpperCase()}`;
    case 'top':
      return `/${environment}/topics/top_${ulid.toUpperCase()}`;
    default:
      return null;
  }
}

/**
 * Returns the path of the same section in the other environment. Always links to the section's list, because an
 * object's id is valid in only one environment.
 */
export function inEnvironment(path: string, environment: Environment): Place {
  const [, , section = 'overview'] = path.split('/');
  return `/${environment}/${section}`;
}
