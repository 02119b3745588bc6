/**
 * `npm run screenshots -- --states full,long --widths 375 --screens events,jobs`: takes pictures of every screen of the
 * console in every state, and reports faults that a program can find. The exit code is 1 if a route has no screen.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { startDomainsScene } from '../api/domains.js';
import { freePort } from '../durability/processes.js';
import { startBrowser } from '../support/browser.js';
import globalSetup from '../support/global-setup.mjs';
import globalTeardown from '../support/global-teardown.mjs';
import { startReceiver } from '../support/receiver.js';
import { callApi } from '../support/server.js';
import { Camera, RESULTS, type State, WIDTHS } from './camera.js';
import { fill, fillBare, type Ids } from './fill.js';
import { galleryOf, type Picture } from './gallery.js';
import { differences, SCREENS } from './screens.js';
import { LONG_TEXTS, USUAL_TEXTS } from './texts.js';

const STATES: readonly State[] = ['empty', 'loading', 'full', 'broken', 'long'];

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: STATES.join(',') },
    widths: { type: 'string', default: WIDTHS.join(',') },
    screens: { type: 'string', default: '' },
  },
});
const { missing, unknown } = differences();
if (missing.length > 0 || unknown.length > 0)
  throw new Error(
    `test/screenshots/screens.ts lacks ${missing.join(', ')}, and has no route for ${unknown.join(', ')}.`,
  );
const asked = values.screens.split(',').filter((screen) => screen !== '');
const screens = SCREENS.filter((screen) => asked.length === 0 || asked.includes(screen));
const states = STATES.filter((state) => values.states.split(',').includes(state));
const widths = values.widths.split(',').map(Number);

const startedAt = performance.now();
rmSync(RESULTS, { recursive: true, force: true });
mkdirSync(RESULTS, { recursive: true });
await globalSetup();
try {
  const pictures = await takeAll();
  writeFileSync(path.join(RESULTS, 'index.html'), galleryOf(pictures));
  for (const { file, faults } of pictures) for (const fault of faults) console.info(`${file}: ${fault}`);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.info(`${pictures.length} pictures of ${screens.length} screens in ${seconds} s: ${RESULTS}/index.html`);
} finally {
  await globalTeardown();
}

/** Starts the service, fills it, and takes the pictures of all states. */
async function takeAll(): Promise<Picture[]> {
  const operatorKey = randomBytes(32).toString('hex');
  const smtpPort = await freePort();
  const [scene, receiver, browser] = await Promise.all([
    startDomainsScene({ SMTP_PORT: String(smtpPort), OPERATOR_KEY: operatorKey }),
    startReceiver(({ path: place }) =>
      place.startsWith('/broken') ? { status: 503, body: 'out of order' } : { body: 'thanks' },
    ),
    startBrowser(),
  ]);
  try {
    const { url } = scene.server;
    const organization = async (slug: string): Promise<string> =>
      (
        await callApi(url, operatorKey, 'POST', '/v1/orgs', {
          slug,
          name: 'Acme',
          admin: { email: `ada@${slug}.example` },
        })
      ).json.key as string;
    const place = { url, receiver: receiver.url, smtpPort };
    const [empty, bare, full, long] = [
      await organization('empty'),
      await organization('bare'),
      await organization('full'),
      await organization('long'),
    ];
    const bareIds = await fillBare({ ...place, key: bare, texts: USUAL_TEXTS });
    const fullIds = await fill({ ...place, key: full, texts: USUAL_TEXTS });
    const longIds = states.includes('long') ? await fill({ ...place, key: long, texts: LONG_TEXTS }) : {};
    const pictures: Picture[] = [];
    for (const state of states) {
      if (state === 'empty') pictures.push(...(await takeState(browser, url, empty, state, {})));
      const [key, ids] = state === 'empty' ? [bare, bareIds] : state === 'long' ? [long, longIds] : [full, fullIds];
      pictures.push(...(await takeState(browser, url, key, state, ids)));
    }
    return pictures;
  } finally {
    await browser.close();
    await receiver.close();
    await scene.close();
  }
}

/**
 * Takes the pictures of one state. For `empty`, an organization without objects shows the lists, and one with objects
 * shows the other screens.
 */
async function takeState(browser: Browser, url: string, key: string, state: State, ids: Ids): Promise<Picture[]> {
  const camera = await Camera.open(browser, url, key, state);
  const pictures: Picture[] = [];
  for (const screen of screens) {
    if (state === 'empty' && Object.keys(ids).length > 0 && !screen.includes('{')) continue;
    pictures.push(...(await camera.take(screen, ids, widths)));
  }
  await camera.close();
  console.info(`${state}: ${pictures.length} pictures`);
  return pictures;
}
