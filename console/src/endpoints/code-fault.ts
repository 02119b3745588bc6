import type { JsonFault } from '../kit/json/read-json';

/** Reads an error of the sandbox, whose message ends with the line of the code: `TypeError: no (line 3)`. */
export function readCodeFault(message: string): JsonFault {
  const [, text = message, line] = /^([^]*?) \(line (\d+)\)\.?$/.exec(message) ?? [];
  return { line: line === undefined ? null : Number(line), message: text };
}

/** Returns the API's error about the code at `path` in the request, or null if the fault is about something else. */
export function codeFaultOf(fault: unknown, path: string): JsonFault | null {
  const { fields } = (fault ?? {}) as { fields?: readonly { path: string; message: string }[] };
  const field = fields?.find((each) => each.path === path);
  return field === undefined ? null : readCodeFault(field.message);
}
