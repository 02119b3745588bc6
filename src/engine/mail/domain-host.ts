import { isIP } from 'node:net';

/** The host name in lower case and A-labels (RFC 5890), or the fault of the input. */
export type HostReading = { host: string } | { fault: string };

/** Maximum length of a host name (RFC 1035, 2.3.4). */
const HOST_CHARACTERS_MAX = 253;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Characters that are not part of a host name, but that a URL parser would interpret: path, port, user, blank. */
const NOT_A_NAME = /[\s/\\?#@:%[\]_*]/;

/** Names that RFC 2606, 6761, 6762, 7686 and 8375 exclude from the public name space. */
const RESERVED = new Set(['localhost', 'local', 'invalid', 'onion', 'internal', 'arpa', 'localdomain', 'lan', 'home']);

/** Second-level labels under which country registries register names, such as `co` in `co.uk`. */
const SECOND_LEVELS = new Set([
  'ac',
  'co',
  'com',
  'edu',
  'gob',
  'gouv',
  'gov',
  'go',
  'govt',
  'gv',
  'mil',
  'ne',
  'net',
  'nom',
  'or',
  'org',
  'ltd',
  'plc',
  'me',
  'sch',
  'nhs',
  'police',
  'ad',
  'ed',
  'gr',
  'lg',
  'asn',
  'id',
  'ind',
  'firm',
  'gen',
  'res',
  'nic',
  'web',
  'info',
  'biz',
  'ab',
  'k12',
  'iwi',
  'maori',
  'school',
  'geek',
  'kiwi',
  'law',
  'alt',
  'adv',
  'blog',
  'eng',
  'med',
]);
/** Countries in which second-level labels are ordinary names: `co.de` is a registered domain. */
const FLAT_COUNTRIES = new Set([
  'de',
  'ch',
  'nl',
  'dk',
  'fi',
  'cz',
  'sk',
  'eu',
  'ca',
  'us',
  'io',
  'co',
  'ai',
  'me',
  'tv',
  'cc',
  'ly',
  'to',
  'lt',
  'lv',
  'ee',
  'bg',
  'is',
  'li',
  'lu',
]);
/** Well-known hosts under which anyone can get a subdomain. */
const SHARED_HOSTS = new Set([
  'github.io',
  'gitlab.io',
  'herokuapp.com',
  'vercel.app',
  'netlify.app',
  'pages.dev',
  'workers.dev',
  'web.app',
  'firebaseapp.com',
  'azurewebsites.net',
  'cloudfront.net',
  'amazonaws.com',
  'appspot.com',
  'onrender.com',
  'fly.dev',
  'ngrok.io',
  'ngrok.app',
  'blogspot.com',
  'wordpress.com',
  'myshopify.com',
  'co.com',
  'uk.com',
  'us.com',
  'eu.org',
]);

/**
 * Parses a host name in any case and script, with or without a trailing dot. Rejects only well-known public suffixes,
 * because the customer must also publish an ownership record. `platformDomain` and its subdomains cannot belong to a
 * customer.
 */
export function readHost(text: string, platformDomain: string): HostReading {
  const given = text.trim().replace(/\.$/, '');
  const unspecific = { fault: 'must be a domain name such as mail.example.com, without a scheme, a path or a port' };
  if (
    given === '' ||
    given.length > HOST_CHARACTERS_MAX ||
    NOT_A_NAME.test(given) ||
    !URL.canParse(`http://${given}/`)
  ) {
    return given.length > HOST_CHARACTERS_MAX
      ? { fault: `must have at most ${HOST_CHARACTERS_MAX} characters` }
      : isIP(given.replace(/^\[|\]$/g, '')) === 0
        ? unspecific
        : address;
  }
  const host = new URL(`http://${given}/`).hostname.replace(/\.$/, '');
  if (host.length > HOST_CHARACTERS_MAX)
    return { fault: `must have at most ${HOST_CHARACTERS_MAX} characters in its ASCII form` };
  if (isIP(host) !== 0) return address;
  const labels = host.split('.');
  if (!labels.every((label) => LABEL.test(label))) return unspecific;
  if (labels.length < 2) return { fault: 'must have at least two labels, as in example.com' };
  const last = labels.at(-1) as string;
  if (RESERVED.has(last)) return { fault: `ends with .${last}, under which there are no public names` };
  if (isPublicSuffix(labels))
    return { fault: 'is a name under which others register their domains: give your own domain below it' };
  if (host === platformDomain || host.endsWith(`.${platformDomain}`))
    return { fault: `is the platform's own domain ${platformDomain} or a subdomain of it: give your own domain` };
  return { host };
}

const address = { fault: 'must be a name, not an IP address' };

function isPublicSuffix(labels: readonly string[]): boolean {
  if (SHARED_HOSTS.has(labels.join('.'))) return true;
  const [second = '', country = ''] = labels;
  return labels.length === 2 && country.length === 2 && SECOND_LEVELS.has(second) && !FLAT_COUNTRIES.has(country);
}
