const MEMBER = ',"payload":';

/**
 * Returns the payload exactly as it stands in the text of an event, including escapes and numbers that a double cannot
 * represent. The payload must be the last member of the event. Returns null if there is no payload.
 */
export function payloadText(event: string): string | null {
  const parsed = JSON.parse(event) as { payload?: unknown };
  if (parsed.payload === undefined || parsed.payload === null) return event.endsWith(`${MEMBER}null}`) ? 'null' : null;
  // Finds the top-level member `payload`. No text inside a string can match, because quotes inside JSON strings are
  // escaped.
  const at = memberAt(event);
  return at === null ? JSON.stringify(parsed.payload) : event.slice(at, -1);
}

/** Returns the offset of the value of the top-level member `payload`, or null if the event has no such member. */
function memberAt(text: string): number | null {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && token === '"payload"' && text.startsWith(MEMBER, index - 1))
      return index - 1 + MEMBER.length;
  }
  return null;
}
