import { randomBytes } from 'node:crypto';
import { startDomainsScene } from '../api/domains.js';
import { freePort } from '../durability/processes.js';
import { startReceiver } from '../support/receiver.js';
import { callApi } from '../support/server.js';
import { fill, fillBare, type Ids } from './fill.js';
import { SCREENS } from './screens.js';
import { LONG_TEXTS, USUAL_TEXTS } from './texts.js';
import type { State } from './visitor.js';

/** Screens to visit with the key of one organization. */
export interface Visit {
  readonly key: string;
  readonly ids: Ids;
  readonly screens: readonly string[];
}

/** A service with organizations that show every screen in every state. */
export interface Scene {
  readonly url: string;
  /** Returns the visits that show every screen in a state. */
  visitsOf(state: State): readonly Visit[];
  close(): Promise<void>;
}

/** Starts a service, and fills organizations for the states. */
export async function startScene(states: readonly State[]): Promise<Scene> {
  const operatorKey = randomBytes(32).toString('hex');
  const smtpPort = await freePort();
  const [service, receiver] = await Promise.all([
    startDomainsScene({ SMTP_PORT: String(smtpPort), OPERATOR_KEY: operatorKey }),
    startReceiver(({ path: place }) =>
      place.startsWith('/broken') ? { status: 503, body: 'out of order' } : { body: 'thanks' },
    ),
  ]);
  const close = async (): Promise<void> => {
    await receiver.close();
    await service.close();
  };
  const { url } = service.server;
  const organization = async (slug: string): Promise<string> =>
    (
      await callApi(url, operatorKey, 'POST', '/v1/orgs', {
        slug,
        name: 'Acme',
        admin: { email: `ada@${slug}.example` },
      })
    ).json.key as string;
  const place = { url, receiver: receiver.url, smtpPort };
  try {
    const keys = {
      empty: await organization('empty'),
      bare: await organization('bare'),
      full: await organization('full'),
      long: await organization('long'),
    };
    const bareIds = await fillBare({ ...place, key: keys.bare, texts: USUAL_TEXTS });
    const fullIds = await fill({ ...place, key: keys.full, texts: USUAL_TEXTS });
    const longIds = states.includes('long') ? await fill({ ...place, key: keys.long, texts: LONG_TEXTS }) : {};
    return {
      url,
      close,
      visitsOf: (state) => {
        // An organization without objects shows the lists, and one with objects shows the other screens.
        if (state === 'empty')
          return [
            { key: keys.empty, ids: {}, screens: SCREENS.filter((screen) => !screen.includes('{')) },
            { key: keys.bare, ids: bareIds, screens: SCREENS.filter((screen) => screen.includes('{')) },
          ];
        if (state === 'long') return [{ key: keys.long, ids: longIds, screens: SCREENS }];
        return [{ key: keys.full, ids: fullIds, screens: SCREENS }];
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
