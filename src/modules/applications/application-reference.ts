import { Injectable } from '@nestjs/common';
import { invalid, noSuch } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import { LiveApplicationsStore } from './live-applications.store.js';

const UID = /^[A-Za-z0-9._:@+~-]{1,256}$/;

/** Returns why a text cannot be a uid, or null. A uid must not look like a Posthorn id, to avoid confusion. */
export function uidFault(uid: string, prefix: 'app' | 'ep'): string | null {
  if (!UID.test(uid)) return 'has 1 to 256 letters, digits and . _ : @ + ~ -';
  return uid.startsWith(`${prefix}_`) ? `must not begin with ${prefix}_, which is reserved for Posthorn ids` : null;
}

/** Parses `{app}` in a path: an `app_` id or the caller's uid. */
@Injectable()
export class ApplicationReference {
  constructor(private readonly store: LiveApplicationsStore) {}

  /** Returns the id or uid in a text. Throws 404 for a malformed `app_` id and 422 for an invalid uid. */
  parse(text: string): { id: Id; uid: null } | { id: null; uid: string } {
    if (text.startsWith('app_')) {
      const id = parseId('app', text);
      if (id === null) throw noSuch('application');
      return { id, uid: null };
    }
    const fault = uidFault(text, 'app');
    if (fault !== null) throw invalid([{ path: 'app', message: `the uid ${fault}` }]);
    return { id: null, uid: text };
  }

  /** Returns the id of an application, read from storage. Throws 404 if the application does not exist. */
  async resolve(environmentId: number, text: string): Promise<Id> {
    const id = text.startsWith('app_') ? parseId('app', text) : null;
    if (id !== null && (await this.store.exists(environmentId, id))) return id;
    const known = id === null && uidFault(text, 'app') === null ? await this.store.byUid(environmentId, text) : null;
    if (known === null) throw noSuch('application');
    return known;
  }
}
