import { CommandFailure, EXIT } from './failure.js';

const FORMS = 'a port (3000), a host and a port (localhost:3000/hook), or an http or https URL';
const PORT_MAX = 65_535;

/**
 * Parses the address of a local program: `3000`, `:3000/hook`, `localhost:3000/hook`, `[::1]:3000` or a whole URL.
 * Throws a usage failure for any other text. The error message never contains credentials.
 */
export function localTarget(text: string): URL {
  const typed = text.trim();
  const [, port, rest = ''] = /^:?(\d+)((?:[/?].*)?)$/.exec(typed) ?? [];
  if (port !== undefined) return checked(typed, `http://localhost:${port}${rest}`);
  if (/^https?:(?!\/\/[^/])|^\//i.test(typed)) throw refused(typed);
  return checked(typed, /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`);
}

function checked(typed: string, url: string): URL {
  const target = /^\S+$/.test(typed) && URL.canParse(url) ? new URL(url) : null;
  if (target === null || !/^https?:$/.test(target.protocol) || target.port === '0' || !isHostAsTyped(url, target))
    throw refused(typed);
  if (target.username !== '' || target.password !== '')
    throw new CommandFailure('--forward-to does not accept a user or a password.', EXIT.usage);
  if (target.hash !== '')
    throw new CommandFailure(
      '--forward-to does not accept a fragment: omit the part that begins with "#".',
      EXIT.usage,
    );
  return target;
}

/**
 * Returns whether `url` contains the host exactly as it was typed. The URL parser changes `3.14` to 3.0.0.14, for
 * example.
 */
function isHostAsTyped(url: string, { hostname }: URL): boolean {
  return !/^\d{1,3}(?:\.\d{1,3}){3}$/.test(hostname) || url.includes(`//${hostname}`) || url.includes(`@${hostname}`);
}

function refused(typed: string): CommandFailure {
  const isPort = /^:?\d+$/.test(typed) && Number(typed.replace(':', '')) > PORT_MAX;
  const shown = typed.includes('@') ? '--forward-to' : `--forward-to ${JSON.stringify(typed.slice(0, 100))}`;
  return new CommandFailure(
    isPort
      ? `${shown} is not a valid port: the maximum is ${PORT_MAX}.`
      : `${shown} is not a valid address. Use ${FORMS}.`,
    EXIT.usage,
  );
}
