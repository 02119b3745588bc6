import type { Environment } from '../api/client';

/** A place of the console, without the path that it stands below. */
export type Place = `/${Environment}/${string}`;

/** 26 characters of Crockford's base 32, as every id of the API ends. */
const ID = /^(evt|msg|req|dst|rpj|app|dom|al)_([0-9A-HJKMNP-TV-Z]{26})(?:\.\d+)?$/i;

/** The screen of an id; null for what is no id that has one. A received request and its event have one ULID. */
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
    default:
      return null;
  }
}

/** The same place in the other environment: its list, since ids are of one environment. */
export function inEnvironment(path: string, environment: Environment): Place {
  const [, , section = 'overview'] = path.split('/');
  return `/${environment}/${section}`;
}
