/** Deeper than this nobody reads indentation, and a megabyte of brackets would become gigabytes of blanks. */
const DEPTH_MAX = 100;

/**
 * JSON with line ends and indentation, in the very characters that it came with: numbers that no double holds, escapes and
 * repeated keys stay. Null for what is no JSON, and for what is nested too deep to be shown so.
 */
export function formatJson(text: string): string | null {
  if (!isJson(text)) return null;
  const parts: string[] = [];
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(depth)}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '{' || token === '[') {
      if (++depth > DEPTH_MAX) return null;
      parts.push(token, line());
    } else if (token === '}' || token === ']') {
      depth -= 1;
      // Nothing between the brackets: they stay together.
      if (/^\n *$/.test(parts.at(-1) ?? '') && ['{', '['].includes(parts.at(-2) ?? '')) parts.pop();
      else parts.push(line());
      parts.push(token);
    } else if (token === ',') parts.push(',', line());
    else parts.push(token === ':' ? ': ' : token);
  }
  return parts.join('');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
