import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { violationsOf } from '../support/console-page.js';
import type { Ids } from './fill.js';
import type { Picture } from './gallery.js';
import { faultsOf } from './page-faults.js';
import { fileOf, placeOf } from './screens.js';
import { HEIGHT, TRANSITION_MS, type Visitor } from './visitor.js';

export const RESULTS = path.resolve(import.meta.dirname, '..', 'browser', 'results', 'screenshots');
export const WIDTHS = [375, 1280, 1920] as const;

/** Takes pictures of the screens that a visitor opens, and finds their faults. */
export class Camera {
  constructor(
    private readonly visitor: Visitor,
    private readonly widths: readonly number[],
    /** Whether axe's violations are faults. */
    private readonly hasAxe: boolean,
  ) {}

  /** Takes the pictures of a screen. Returns an empty list if the organization lacks the objects of the screen. */
  async take(screen: string, ids: Ids): Promise<Picture[]> {
    const place = placeOf(screen, ids);
    if (place === null) return [];
    const { page, state } = this.visitor;
    await page.setViewportSize({ width: this.widths[0] ?? 1280, height: HEIGHT });
    await this.visitor.visit(place);
    const taken: Picture[] = [];
    for (const width of this.widths) {
      await page.setViewportSize({ width, height: HEIGHT });
      for (const isDark of state === 'full' ? [false, true] : [false]) {
        await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
        await page.waitForTimeout(TRANSITION_MS);
        taken.push(await this.shoot(screen, width, isDark));
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    return taken;
  }

  private async shoot(screen: string, width: number, isDark: boolean): Promise<Picture> {
    const { page, state, complaints } = this.visitor;
    const file = path.join(state, String(width), `${fileOf(screen)}${isDark ? '-dark' : ''}.png`);
    mkdirSync(path.dirname(path.join(RESULTS, file)), { recursive: true });
    await page.screenshot({ path: path.join(RESULTS, file), fullPage: true });
    const faults = isDark ? [] : await faultsOf(page);
    if (this.hasAxe) faults.push(...(await violationsOf(page)));
    if (state !== 'broken') faults.push(...complaints.splice(0).map((text) => `The browser logged: ${text}`));
    return { state, width, screen, isDark, file, faults };
  }
}
