/** What resolv.conf(5) says of names that are not complete. */
export interface SearchSettings {
  /** Domains that an incomplete name is tried in. */
  readonly domains: readonly string[];
  /** A name of fewer dots is tried in the domains first, and one of as many as it stands. */
  readonly ndots: number;
}

/** glibc's bounds. */
const NDOTS_MAX = 15;
const DOMAINS_MAX = 6;

/** `ownName` is the host's name: its domain is searched when the file names none. */
export function parseSearch(text: string, ownName: string): SearchSettings {
  let domains = ownName.split('.').slice(1).join('.').split(' ');
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    // The last line of each kind wins, and `domain` is a `search` of one.
    if (keyword === 'search' || keyword === 'domain') domains = values;
    if (keyword === 'options') ndots = ndotsOf(values) ?? ndots;
  }
  const usable = domains.map((domain) => domain.toLowerCase().replace(/\.$/, '')).filter((domain) => domain !== '');
  return { domains: usable.slice(0, DOMAINS_MAX), ndots };
}

/** The complete names that a name may stand for, in the order of asking. One that ends in a dot is complete. */
export function candidates(name: string, { domains, ndots }: SearchSettings): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const searched = domains.map((domain) => `${name}.${domain}`);
  return name.split('.').length - 1 >= ndots ? [name, ...searched] : [...searched, name];
}

function ndotsOf(options: readonly string[]): number | null {
  const [, digits] = options.map((option) => /^ndots:(\d+)$/.exec(option)).findLast((found) => found !== null) ?? [];
  return digits === undefined ? null : Math.min(Number(digits), NDOTS_MAX);
}
