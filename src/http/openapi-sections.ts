import { ApiExtension, ApiTags, type OpenAPIObject } from '@nestjs/swagger';

/** The extension of an operation whose first example does not answer 2xx where it stands on the page, as `TryAfter` and `TryNeeds` set it. */
export const TRY_IT_OUT = 'x-try-it-out';

/** Why an operation cannot be tried in page order: the section to try first, or the prerequisite that the page cannot provide. */
export type TryItOut = { after: string } | { needs: string };

const DESCRIPTIONS = new Map<string, string>();

/** Sections in the order of a first visit, each after those whose resources its examples use; those of extensions come behind, as they were found. */
const ORDER = [
  'Destinations',
  'Applications',
  'Send',
  'Events',
  'Endpoints',
  'Ingest domains',
  'Pull',
  'Portal',
  'Replay',
  'Event types',
  'Domains',
  'Emails',
  'Mail views',
  'Suppressions',
  'Mail reports',
  'Aliases',
  'Received mail',
  'Secrets',
  'Metrics',
  'Attention',
  'System events',
  'Organization',
  'Keys',
  'Members',
  'Sessions',
  'Audit',
  'Operator',
  'Agents',
  'Health',
];

/** What is made comes before what reads it, and that before what changes it. */
const METHODS = ['post', 'get', 'put', 'patch', 'delete'];

/** Class of a controller: the section of the documentation that its routes stand in. Controllers may share one. */
export function Section(name: string, description: string): ClassDecorator {
  return (target) => {
    const known = DESCRIPTIONS.get(name);
    if (known !== undefined && known !== description)
      throw new Error(`Section ${name} has two descriptions (${target.name}).`);
    DESCRIPTIONS.set(name, description);
    ApiTags(name)(target);
  };
}

/** Handler of a route that deletes what later examples use: the section after which it can be tried. */
export function TryAfter(section: string): MethodDecorator {
  return ApiExtension(TRY_IT_OUT, { after: section } satisfies TryItOut);
}

/** Handler of a route whose example needs more than the page has: completes the sentence "To try it out you need …". */
export function TryNeeds(what: string): MethodDecorator {
  return ApiExtension(TRY_IT_OUT, { needs: what } satisfies TryItOut);
}

/** The sections that operations stand in, in their order, each with what it is about. */
export function sections(used: ReadonlySet<string>): { name: string; description: string }[] {
  const names = [...used].sort((a, b) => place(a) - place(b));
  return names.map((name) => ({ name, description: DESCRIPTIONS.get(name) ?? name }));
}

/**
 * Returns the paths section by section. Within one, paths without parameters come first, since they make what the others name. The rest is in
 * alphabetical order, which puts a path before those below it, except that `test` precedes its siblings: it makes the event that they show.
 */
export function inOrder(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const entries = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).sort(([a], [b]) => METHODS.indexOf(a) - METHODS.indexOf(b));
    const [, first] = operations[0] as [string, { tags?: string[] }];
    return {
      path,
      item: Object.fromEntries(operations),
      section: place(first.tags?.[0] ?? ''),
      key: `${path.includes('{') ? '1' : '0'}${path.replace(/\/test$/, '/')}`,
    };
  });
  entries.sort((a, b) => a.section - b.section || (a.key < b.key ? -1 : 1));
  return Object.fromEntries(entries.map(({ path, item }) => [path, item]));
}

function place(section: string): number {
  const index = ORDER.indexOf(section);
  return index < 0 ? ORDER.length : index;
}
