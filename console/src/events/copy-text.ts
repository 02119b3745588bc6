import { readObject } from '../kit/json/read-json';

/** Returns the request that sends a copy of an event. Contains the payload character for character. */
export function copyTextOf(
  destination: string,
  { event_type, headers }: { event_type: string; headers: Readonly<Record<string, string>> },
  payload: string,
): string {
  return `${JSON.stringify({ destination, event_type, headers }).slice(0, -1)},"payload":${payload}}`;
}

/** Returns whether a text is a JSON object. A number that cannot be stored exactly is no error here. */
export function isObject(text: string): boolean {
  const { value, fault } = readObject(text, 'no object');
  return fault === null ? value !== null : fault.number !== undefined && text.trimStart().startsWith('{');
}
