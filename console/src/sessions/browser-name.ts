/** Browsers by their token in the user agent. Edge and Opera also contain the token of Chrome, so they come first. */
const BROWSERS: readonly [name: string, version: RegExp][] = [
  ['Edge', /\bEdg(?:A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)\S* (?:Mobile\/\S+ )?Safari\//],
];

/** Operating systems. Android also contains Linux, and iOS also contains Mac OS X, so they come first. */
const SYSTEMS: readonly [name: string, token: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad|iPod)\b/],
  ['Windows', /\bWindows NT\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];

/** Returns the browser and the operating system of a user agent, or null if one of them is unknown. */
export function parseUserAgent(agent: string): { browser: string; system: string } | null {
  const system = SYSTEMS.find(([, token]) => token.test(agent))?.[0];
  for (const [name, version] of BROWSERS) {
    const major = version.exec(agent)?.[1];
    if (major !== undefined && system !== undefined) return { browser: `${name} ${major}`, system };
  }
  return null;
}
