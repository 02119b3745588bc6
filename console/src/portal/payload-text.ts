const MEMBER = ',"payload":';

/**
 * Returns the original text of the payload, if it is the last member of the event. Numbers that no double can hold and
 * escapes stay unchanged. Returns null if there is no payload.
 */
export function payloadText(event: string): string | null {
  const parsed = JSON.parse(event) as { payload?: unknown };
  if (parsed.payload === undefined || parsed.payload === null) return event.endsWith(`${MEMBER}null}`) ? 'null' : null;
  // Quotes inside JSON strings are escaped, and no member before the payload has this name. Therefore the first
  // occurrence outside of strings is the member.
  const at = memberAt(event);
  return at === null ? JSON.stringify(parsed.payload) : event.slice(at, -1);
}

/** Returns the offset at which the member's value starts, at the top level of the object. */
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
