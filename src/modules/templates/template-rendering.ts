import { type ParsedTemplate, RenderingTooLarge, TemplateRendering } from '#engine/mail/mail-template.js';
import type { Fault } from '#kernel/errors.js';
import { CONTROL, NO_CONTROL, type ParsedContent, valueFault } from './template-content.js';
import type { TemplateVariable } from './templates.entities.js';

const VARIABLES_BYTES_MAX = 256 * 1024;

export interface RenderedContent {
  subject: string | null;
  html: string | null;
  text: string | null;
  /** Variables without a value and without a fallback, each with the path of its first use: `lines[0].title`. */
  missing: { name: string; path: string }[];
  /** Given variables that the template does not use. */
  unused: string[];
}

/** Returns the content rendered with one email's variables, or errors whose paths begin with `at`. */
export function renderContent(
  parts: ParsedContent,
  declared: readonly TemplateVariable[],
  given: Readonly<Record<string, unknown>>,
  at: string,
): RenderedContent | { faults: Fault[] } {
  const faults = givenFaults(declared, given, at);
  if (faults.length > 0) return { faults };
  // `Object.fromEntries` creates only own properties, so a variable named `__proto__` needs no special treatment.
  const variables = Object.fromEntries([
    ...declared.map(({ key, fallback }) => [key, fallback] as const),
    ...Object.entries(given).filter(([, value]) => value !== null),
  ]);
  const rendering = new TemplateRendering(variables);
  const part = (template: ParsedTemplate | null): string | null => template && rendering.render(template);
  try {
    const rendered = { subject: part(parts.subject), html: part(parts.html), text: part(parts.text) };
    if (rendered.subject !== null && CONTROL.test(rendered.subject))
      faults.push({ path: 'subject', message: `${NO_CONTROL} after its variables are filled in` });
    for (const path of rendering.notText.values())
      faults.push({ path: `${at}.${path}`, message: 'must be a string, a number or a boolean where it is printed' });
    const required = declared.filter(({ key }) => (variables[key] ?? null) === null).map(({ key }) => key);
    const others = [...rendering.missing].filter(([name]) => !required.includes(name.split('.')[0] ?? ''));
    const missing = [
      ...required.map((name) => ({ name, path: name })),
      ...others.map(([name, path]) => ({ name, path })),
    ];
    return faults.length > 0 ? { faults } : { ...rendered, missing, unused: unusedOf(parts, given) };
  } catch (error) {
    if (!(error instanceof RenderingTooLarge)) throw error;
    return { faults: [{ path: at, message: 'makes the template too large: its lists repeat too much' }] };
  }
}

function givenFaults(
  declared: readonly TemplateVariable[],
  given: Readonly<Record<string, unknown>>,
  at: string,
): Fault[] {
  const types = new Map(declared.map(({ key, type }) => [key, type]));
  const faults = Object.entries(given).flatMap(([key, value]) => {
    const message = value === null ? null : valueFault(value, types.get(key) ?? null, VARIABLES_BYTES_MAX);
    return message === null ? [] : [{ path: `${at}.${key}`, message }];
  });
  if (faults.length > 0 || Buffer.byteLength(JSON.stringify(given)) <= VARIABLES_BYTES_MAX) return faults;
  return [{ path: at, message: `must have at most ${VARIABLES_BYTES_MAX} bytes as JSON` }];
}

function unusedOf({ subject, html, text }: ParsedContent, given: Readonly<Record<string, unknown>>): string[] {
  const used = new Set([subject, html, text].flatMap((part) => [...(part?.names ?? [])]));
  return Object.keys(given).filter((key) => !used.has(key));
}
