/** Maximum nesting depth. Without it, a megabyte of nested brackets would become gigabytes of formatted text. */
const DEPTH_MAX = 100;
const TOKENS_A_STEP = 2_000;
/** Maximum duration of a slice, after which the formatter yields to the page. It is shorter than one frame. */
const SLICE_MS = 12;

/**
 * Formats JSON with line breaks and indentation. Tokens stay unchanged, including escapes, repeated keys, and numbers
 * that a double cannot represent. Returns null for invalid JSON, and for JSON that is nested too deeply.
 */
export function formatJson(text: string): string | null {
  const steps = formatting(text);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Formats JSON as `formatJson` does, but in slices, so that the page stays responsive. Rejects when `signal` is
 * aborted.
 */
export async function formatJsonInSlices(text: string, signal: AbortSignal): Promise<string | null> {
  const steps = formatting(text);
  for (;;) {
    const until = performance.now() + SLICE_MS;
    while (performance.now() < until) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
    signal.throwIfAborted();
  }
}

function* formatting(text: string): Generator<undefined, string | null> {
  if (!isJson(text)) return null;
  yield;
  const parts: string[] = [];
  let depth = 0;
  let tokens = 0;
  const line = (): string => `\n${'  '.repeat(depth)}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (++tokens % TOKENS_A_STEP === 0) yield;
    if (token === '{' || token === '[') {
      if (++depth > DEPTH_MAX) return null;
      parts.push(token, line());
    } else if (token === '}' || token === ']') {
      depth -= 1;
      // Keeps a pair of empty brackets on one line.
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
