import type { Token } from './token';

/** A text that completes JSON. */
export interface CodeCompletion {
  /** Name of the JSON member that can have this text as its value. Null if the text is itself a member name. */
  of: string | null;
  text: string;
  /** Text that explains the completion, such as a sample value. */
  detail?: string;
}

/** The position of a caret in JSON at which text can be completed. */
export interface CompletionPlace {
  /** Name of the member whose value begins at this position. Null if the name of a member begins here. */
  of: string | null;
  /** The range that a completion replaces. */
  from: number;
  to: number;
  /** Text between the quotation mark and the caret. */
  typed: string;
  /** Whether a completion must add quotation marks: at its start, and at its end. */
  opens: boolean;
  closes: boolean;
}

const SHOWN_MAX = 50;

/** Returns the place at the caret. Returns null if no name and no value of a member can be at the caret. */
export function completionPlace(text: string, tokens: readonly Token[], caret: number): CompletionPlace | null {
  const token = tokens.find(({ start, end }) => start < caret && caret <= end);
  const isText = token !== undefined && text[token.start] === '"';
  const isClosed = token?.kind !== 'bad';
  if (isText && !(isClosed && caret === token.end)) {
    const of = memberAt(text, tokens, token.start);
    if (of === undefined) return null;
    const to = isClosed ? token.end - 1 : caret;
    const typed = text.slice(token.start + 1, caret);
    return { of, from: token.start + 1, to, typed, opens: false, closes: !isClosed };
  }
  if (token !== undefined && token.kind !== 'bracket') return null;
  const of = memberAt(text, tokens, caret);
  return of === undefined ? null : { of, from: caret, to: caret, typed: '', opens: true, closes: true };
}

/** Returns the completions for a place. Those that begin with the typed text are first. */
export function completionsAt(
  { of, typed }: CompletionPlace,
  completions: readonly CodeCompletion[],
): readonly CodeCompletion[] {
  const sought = typed.toLowerCase();
  const fitting = completions.filter((each) => each.of === of && each.text.toLowerCase().includes(sought));
  if (fitting.length === 1 && fitting[0]?.text === typed) return [];
  const isFirst = ({ text }: CodeCompletion): boolean => text.toLowerCase().startsWith(sought);
  return [...fitting.filter(isFirst), ...fitting.filter((each) => !isFirst(each))].slice(0, SHOWN_MAX);
}

/** Returns the text that replaces the range of the place. */
export function completedText({ opens, closes }: CompletionPlace, text: string): string {
  return `${opens ? '"' : ''}${JSON.stringify(text).slice(1, -1)}${closes ? '"' : ''}`;
}

/**
 * Returns the name of the member whose value begins here. Returns null if a member's name begins here, and undefined in
 * all other cases.
 */
function memberAt(text: string, tokens: readonly Token[], at: number): string | null | undefined {
  const before = text.slice(0, at).trimEnd();
  if (before.endsWith(':')) {
    const end = before.slice(0, -1).trimEnd().length;
    const key = tokens.find((token) => token.end === end && token.kind === 'key');
    return key === undefined ? undefined : text.slice(key.start + 1, key.end - 1);
  }
  if (before.endsWith('{')) return null;
  return before.endsWith(',') && innermost(text, tokens, at) === '{' ? null : undefined;
}

function innermost(text: string, tokens: readonly Token[], at: number): string | undefined {
  const open: string[] = [];
  for (const { kind, start } of tokens) {
    if (start >= at) break;
    if (kind !== 'bracket') continue;
    const bracket = text[start] ?? '';
    if (bracket === '{' || bracket === '[') open.push(bracket);
    else open.pop();
  }
  return open.at(-1);
}
