import { ApiTags, type OpenAPIObject } from '@nestjs/swagger';

const DESCRIPTIONS = new Map<string, string>();

/** Sections in the order of a first visit; those of extensions come behind, as they were found. */
const ORDER = [
  'Send', 'Destinations', 'Events', 'Replay', 'Endpoints', 'Ingest domains', 'Pull', 'Applications', 'Portal', 'Event types', 'Domains', 'Emails', 'Suppressions', 'Mail reports', 'Aliases',
  'Received mail', 'Mail views', 'Secrets', 'Metrics', 'Attention', 'System events', 'Organization', 'Keys', 'Members', 'Sessions', 'Audit', 'Operator', 'Agents', 'Health',
];

/** What is made comes before what reads it, and that before what changes it. */
const METHODS = ['post', 'get', 'put', 'patch', 'delete'];

/** Class of a controller: the section of the documentation that its routes stand in. Controllers may share one. */
export function Section(name: string, description: string): ClassDecorator {
  return (target) => {
    const known = DESCRIPTIONS.get(name);
    if (known !== undefined && known !== description) throw new Error(`Section ${name} has two descriptions (${target.name}).`);
    DESCRIPTIONS.set(name, description);
    ApiTags(name)(target);
  };
}

/** The sections that operations stand in, in their order, each with what it is about. */
export function sections(used: ReadonlySet<string>): { name: string; description: string }[] {
  const names = [...used].sort((a, b) => place(a) - place(b));
  return names.map((name) => ({ name, description: DESCRIPTIONS.get(name) ?? name }));
}

/** The paths section by section, what is short before what goes deeper. */
export function inOrder(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const entries = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).sort(([a], [b]) => METHODS.indexOf(a) - METHODS.indexOf(b));
    const [, first] = operations[0] as [string, { tags?: string[] }];
    return { path, item: Object.fromEntries(operations), section: place(first.tags?.[0] ?? ''), depth: path.split('/').length };
  });
  entries.sort((a, b) => a.section - b.section || a.depth - b.depth);
  return Object.fromEntries(entries.map(({ path, item }) => [path, item]));
}

function place(section: string): number {
  const index = ORDER.indexOf(section);
  return index < 0 ? ORDER.length : index;
}
