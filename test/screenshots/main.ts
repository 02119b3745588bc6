/**
 * `npm run screenshots -- --states full,long --widths 375 --screens events,jobs --axe`: takes pictures of every screen of
 * the console in every state, and reports faults that a program can find. The exit code is 1 if a route has no screen.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../support/browser.js';
import globalSetup from '../support/global-setup.mjs';
import globalTeardown from '../support/global-teardown.mjs';
import { Camera, RESULTS, WIDTHS } from './camera.js';
import { galleryOf, type Picture } from './gallery.js';
import { type Scene, startScene } from './scene.js';
import { differences, SCREENS } from './screens.js';
import { type State, STATES, Visitor } from './visitor.js';

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: STATES.join(',') },
    widths: { type: 'string', default: WIDTHS.join(',') },
    screens: { type: 'string', default: '' },
    axe: { type: 'boolean', default: false },
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
  const [scene, browser] = await Promise.all([startScene(states), startBrowser()]);
  try {
    const pictures: Picture[] = [];
    for (const state of states) pictures.push(...(await takeState(browser, scene, state)));
    return pictures;
  } finally {
    await browser.close();
    await scene.close();
  }
}

async function takeState(browser: Browser, scene: Scene, state: State): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (const { key, ids, screens: all } of scene.visitsOf(state)) {
    const visitor = await Visitor.open(browser, scene.url, key, state);
    const camera = new Camera(visitor, widths, values.axe);
    for (const screen of screens.filter((each) => all.includes(each)))
      pictures.push(...(await camera.take(screen, ids)));
    await visitor.close();
  }
  console.info(`${state}: ${pictures.length} pictures`);
  return pictures;
}
