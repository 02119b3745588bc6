interface Family {
  readonly head: string[];
  readonly samples: string[];
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?( .+)$/;

/**
 * Merges the metrics of all processes into one page of Prometheus text. The label `process` identifies the process.
 * Each metric appears once with all of its samples, as the format requires.
 *
 * @param pages pages by process number, as prom-client writes them: the header of a metric, then its samples
 */
export function mergedFigures(pages: ReadonlyMap<number, string>): string {
  const families = new Map<string, Family>();
  for (const [number, page] of pages) addPage(families, number, page);
  return [...families.values()].flatMap(({ head, samples }) => [...head, ...samples, '']).join('\n');
}

function addPage(families: Map<string, Family>, number: number, page: string): void {
  let family: Family | undefined;
  for (const line of page.split('\n')) {
    if (line.startsWith('# HELP ')) family = familyOf(families, line);
    else if (line.startsWith('# TYPE ') && family?.head.length === 1) family.head.push(line);
    else if (line !== '' && !line.startsWith('#')) family?.samples.push(labelled(line, number));
  }
}

function familyOf(families: Map<string, Family>, help: string): Family {
  const name = help.split(' ', 3)[2] ?? '';
  const family = families.get(name) ?? { head: [help], samples: [] };
  families.set(name, family);
  return family;
}

function labelled(line: string, number: number): string {
  const [, name, labels, value] = SAMPLE.exec(line) ?? [];
  if (name === undefined || value === undefined) return line;
  return `${name}{process="${number}"${labels ? `,${labels}` : ''}}${value}`;
}
