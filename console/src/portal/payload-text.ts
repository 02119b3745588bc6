const MEMBER = ',"payload":';

/**
 * The payload's very characters in the text of an event, where it is the last member: numbers that no double holds and escapes stay. Null
 * when there is none.
 */
export function payloadText(event: string): string | null {
  const parsed = JSON.parse(event) as { payload?: unknown };
  if (parsed.payload === undefined || parsed.payload === null) return event.endsWith(`${MEMBER}null}`) ? 'null' : null;
  // A member's name in a text inside of JSON has its quotes escaped, and what comes before it has no such member: the first one outside of texts.
  const at = memberAt(event);
  return at === null ? JSON.stringify(parsed.payload) : event.slice(at, -1);
}

/** Where the value of the member begins that stands at the first depth. */
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
