export interface SearchSettings {
  readonly domains: readonly string[];
  /**
   * A name with at least this number of dots is first tried unchanged. Other names are first tried with the search
   * domains.
   */
  readonly ndots: number;
}

/** Limits for the settings of resolv.conf, the same as in glibc. */
const NDOTS_MAX = 15;
const DOMAINS_MAX = 6;

/** Parses resolv.conf. Without a domain in the file, uses the domain of `ownName`, the host's name. */
export function parseSearch(text: string, ownName: string): SearchSettings {
  let domains = ownName.split('.').slice(1).join('.').split(' ');
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    // If a keyword occurs several times, its last line applies. `domain` equals `search` with one domain.
    if (keyword === 'search' || keyword === 'domain') domains = values;
    if (keyword === 'options') ndots = ndotsOf(values) ?? ndots;
  }
  const usable = domains.map((domain) => domain.toLowerCase().replace(/\.$/, '')).filter((domain) => domain !== '');
  return { domains: usable.slice(0, DOMAINS_MAX), ndots };
}

/** Returns the complete names to query, in order. A name that ends with a dot is already complete. */
export function candidates(name: string, { domains, ndots }: SearchSettings): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const searched = domains.map((domain) => `${name}.${domain}`);
  return name.split('.').length - 1 >= ndots ? [name, ...searched] : [...searched, name];
}

function ndotsOf(options: readonly string[]): number | null {
  const [, digits] = options.map((option) => /^ndots:(\d+)$/.exec(option)).findLast((found) => found !== null) ?? [];
  return digits === undefined ? null : Math.min(Number(digits), NDOTS_MAX);
}
