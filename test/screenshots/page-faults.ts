import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';

const MESSAGES = path.resolve(import.meta.dirname, '..', '..', 'console', 'src', 'kit', 'messages');

/** Keys of the texts in the console. A key on a screen means that the text is missing. */
const MESSAGE_KEYS: readonly string[] = [
  path.join(MESSAGES, 'en.ts'),
  ...readdirSync(path.join(MESSAGES, 'en')).map((file) => path.join(MESSAGES, 'en', file)),
].flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/^ {2}'([\w-]+(?:\.[\w-]+)+)':/gm)].map(([, key = '']) => key),
);

type Rect = Pick<DOMRect, 'left' | 'top' | 'right' | 'bottom'>;

/** Returns the faults of the page that a program can find, one sentence each. */
export function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate(findFaults, MESSAGE_KEYS);
}

/** Runs in the browser, so it uses nothing outside this function. */
function findFaults(messageKeys: readonly string[]): string[] {
  const OVERLAP_PX_MAX = 3;
  const root = document.documentElement;
  const faults: string[] = [];

  const nameOf = (element: Element): string => {
    const classes = [...element.classList].map((name) => `.${name}`).join('');
    return `${element.tagName.toLowerCase()}${classes} "${(element.textContent ?? '').trim().slice(0, 40)}"`;
  };
  const isShown = (element: Element): boolean =>
    element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }) &&
    // Texts for screen readers only are clipped.
    [element, ...ancestorsOf(element)].every((part) => getComputedStyle(part).clipPath !== 'inset(50%)');
  const ancestorsOf = (element: Element): Element[] => {
    const found: Element[] = [];
    for (let above = element.parentElement; above !== null; above = above.parentElement) found.push(above);
    return found;
  };
  /** Returns the rectangles of an element's lines, without the parts that its ancestors clip. */
  const visibleRects = (element: Element): Rect[] =>
    [...element.getClientRects()].map((line) => {
      let { left, top, right, bottom } = line;
      for (const above of ancestorsOf(element)) {
        const { overflowX, overflowY, display } = getComputedStyle(above);
        if (display === 'inline') continue;
        const box = above.getBoundingClientRect();
        if (overflowX !== 'visible') [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
        if (overflowY !== 'visible') [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      }
      return { left, top, right, bottom };
    });
  const doOverlap = (one: Rect, other: Rect): boolean =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > OVERLAP_PX_MAX &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > OVERLAP_PX_MAX;
  const hasOwnText = (element: Element): boolean =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '');

  const shown = [...document.body.querySelectorAll('*')].filter(isShown);
  const texts = shown.filter(
    (element) => hasOwnText(element) && element.closest('svg, pre, textarea, option, .cm-editor') === null,
  );

  if (root.scrollWidth > root.clientWidth) {
    faults.push(`The page scrolls sideways by ${root.scrollWidth - root.clientWidth} px.`);
    const wide = shown
      .filter((element) => visibleRects(element).some(({ right }) => right > root.clientWidth + 1))
      .at(-1);
    if (wide !== undefined) faults.push(`It is wider than the window: ${nameOf(wide)}.`);
  }
  for (const element of texts) {
    const { overflowX, display } = getComputedStyle(element);
    if (display !== 'inline' && overflowX === 'visible' && element.scrollWidth > element.clientWidth + 1)
      faults.push(`The text is wider than its box: ${nameOf(element)}.`);
    const text = element.textContent?.trim() ?? '';
    if (/\bundefined\b|\bNaN\b|\[object |Invalid Date/.test(text) && element.closest('code') === null)
      faults.push(`The text shows an internal value: ${nameOf(element)}.`);
    // Ignores text that is shown as code, such as names of event types, which look like keys.
    if (messageKeys.includes(text) && element.closest('code') === null) faults.push(`The text is missing: ${text}.`);
  }
  const controls = shown.filter((element) => element.matches('a, button, input, select, summary'));
  const solid = [...new Set([...texts, ...controls])].filter((element) =>
    [element, ...ancestorsOf(element)].every(
      (part) => getComputedStyle(part).position.match(/absolute|fixed|sticky/) === null,
    ),
  );
  const boxes = solid.map((element) => ({ element, rects: visibleRects(element) }));
  for (const [index, one] of boxes.entries()) {
    for (const other of boxes.slice(index + 1)) {
      if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
      if (one.rects.some((rect) => other.rects.some((each) => doOverlap(rect, each))))
        faults.push(`Two elements overlap: ${nameOf(one.element)} and ${nameOf(other.element)}.`);
    }
  }
  const primary = shown.filter((element) => element.matches('.primary'));
  if (primary.length > 1)
    faults.push(`The page has ${primary.length} primary buttons: ${primary.map(nameOf).join(', ')}.`);
  for (const heading of shown.filter((element) => element.matches('h1, h2, h3, h4')))
    if (heading.textContent?.trim() === '') faults.push(`A heading is empty: ${nameOf(heading)}.`);
  return [...new Set(faults)];
}
