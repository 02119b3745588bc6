import { ApiExtension, ApiTags, type OpenAPIObject } from '@nestjs/swagger';

/**
 * Name of an OpenAPI extension property for operations whose example fails if a reader tries the operations of the page
 * from top to bottom. Its value says what to do first.
 */
export const TRY_IT_OUT = 'x-try-it-out';

/** Condition for trying an operation: the section to try first, or a prerequisite outside of the page. */
export type TryItOut = { after: string } | { needs: string };

const DESCRIPTIONS = new Map<string, string>();

/** Order of sections. Each section comes after the sections whose resources its examples use. Extensions come last. */
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
  'Templates',
  'Emails',
  'Mail views',
  'Suppressions',
  'Topics',
  'Mail reports',
  'Aliases',
  'Received mail',
  'Mail files',
  'Secrets',
  'Metrics',
  'Attention',
  'Names',
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

/** Order of methods: operations that create, then those that read, then those that change. */
const METHODS = ['post', 'get', 'put', 'patch', 'delete'];

/** Class decorator for a controller: the documentation section of its routes. Controllers may share a section. */
export function Section(name: string, description: string): ClassDecorator {
  return (target) => {
    const known = DESCRIPTIONS.get(name);
    if (known !== undefined && known !== description)
      throw new Error(`Section ${name} has two descriptions (${target.name}).`);
    DESCRIPTIONS.set(name, description);
    ApiTags(name)(target);
  };
}

/**
 * Method decorator for a route that deletes a resource which the examples in `section` use. Readers should try these
 * examples first.
 */
export function TryAfter(section: string): MethodDecorator {
  return ApiExtension(TRY_IT_OUT, { after: section } satisfies TryItOut);
}

/**
 * Method decorator for a route whose example has a prerequisite. `what` completes the sentence "To try it out you need
 * …".
 */
export function TryNeeds(what: string): MethodDecorator {
  return ApiExtension(TRY_IT_OUT, { needs: what } satisfies TryItOut);
}

export function sections(used: ReadonlySet<string>): { name: string; description: string }[] {
  const names = [...used].sort((a, b) => place(a) - place(b));
  return names.map((name) => ({ name, description: DESCRIPTIONS.get(name) ?? name }));
}

/**
 * Returns the paths section by section.
 *
 * Within a section, paths without parameters come first, because they create the resources that other paths contain.
 * The other paths are in alphabetical order, so that a path comes before its subpaths. A path that ends in `test` comes
 * before its siblings, because it creates the event that they show.
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
