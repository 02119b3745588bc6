import { getLocation } from 'jsonc-parser';
import type { CodeLanguage } from './languages';

/** A text that completes JSON, an expression of code, or a tag of a template. */
export interface CodeCompletion {
  /** In JSON, the name of the member for which this text is a value. Null if the text is itself a name. */
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

/** Completions at a caret, and the range that they replace. */
export interface OfferedCompletions {
  from: number;
  to: number;
  options: { label: string; detail: string; apply: string }[];
}

/** A caret in a text. `isExplicit` is true if the user asked for completions, and false while the user types. */
interface Asked {
  text: string;
  caret: number;
  isExplicit: boolean;
}

const SHOWN_MAX = 50;
/** A member of an object before the caret, such as `event.body.na`. */
const MEMBER = /[A-Za-z_$][\w$]*(?:\.[\w$]*|\[[^\]\n]*\]?)+$/;
const NAME = /[\w$]*$/;
/** An open Mustache tag before the caret. */
const TAG = /(\{\{\{?)\s*([\w.]*)$/;
const CLOSED_STRING = /^"(?:[^"\\\n]|\\.)*"$/;

/** Returns the place at the caret. Returns null if no name and no value of a member can be at the caret. */
export function completionPlace(text: string, caret: number): CompletionPlace | null {
  const { path, previousNode: node, isAtPropertyKey } = getLocation(text, caret);
  const of = isAtPropertyKey ? null : path.at(-1);
  // A number is the index of an array's item, and undefined is the root.
  if (typeof of === 'number' || of === undefined) return null;
  const end = node === undefined ? 0 : node.offset + node.length;
  if (node === undefined || caret > end || caret <= node.offset) {
    const before = text.slice(0, caret).trimEnd();
    const canBegin = (of === null ? /[{,]$/ : /:$/).test(before);
    return canBegin ? { of, from: caret, to: caret, typed: '', opens: true, closes: true } : null;
  }
  if (text[node.offset] !== '"') return null;
  const isClosed = CLOSED_STRING.test(text.slice(node.offset, end));
  if (isClosed && caret === end) return null;
  const from = node.offset + 1;
  return { of, from, to: isClosed ? end - 1 : caret, typed: text.slice(from, caret), opens: false, closes: !isClosed };
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

/** Returns the completions of a language at the caret. Returns null if there are none. */
export function offeredAt(
  language: CodeLanguage,
  asked: Asked,
  completions: readonly CodeCompletion[],
): OfferedCompletions | null {
  if (completions.length === 0) return null;
  const offered =
    language === 'json'
      ? offeredInJson(asked, completions)
      : language === 'javascript'
        ? offeredInCode(asked, completions)
        : offeredInTag(asked, completions);
  return offered === null || offered.options.length === 0 ? null : offered;
}

/** While the user types, offers completions of JSON only in quotation marks. */
function offeredInJson(
  { text, caret, isExplicit }: Asked,
  completions: readonly CodeCompletion[],
): OfferedCompletions | null {
  const place = completionPlace(text, caret);
  if (place === null || (place.opens && !isExplicit)) return null;
  return {
    from: place.from,
    to: place.to,
    options: completionsAt(place, completions).map((each) => optionOf(each, completedText(place, each.text))),
  };
}

/** While the user types, offers expressions only after a dot or a bracket. */
function offeredInCode(
  { text, caret, isExplicit }: Asked,
  completions: readonly CodeCompletion[],
): OfferedCompletions | null {
  const before = lineBefore(text, caret);
  const typed = MEMBER.exec(before)?.[0] ?? (isExplicit ? NAME.exec(before)?.[0] : undefined);
  return typed === undefined ? null : offeredFor(typed, caret, completions, '');
}

function offeredInTag({ text, caret }: Asked, completions: readonly CodeCompletion[]): OfferedCompletions | null {
  const [, opening = '', typed = ''] = TAG.exec(lineBefore(text, caret)) ?? [];
  if (opening === '') return null;
  const isClosed = /^[\w.]*\s*\}\}/.test(text.slice(caret, caret + 100));
  return offeredFor(typed, caret, completions, isClosed ? '' : '}'.repeat(opening.length));
}

function offeredFor(
  typed: string,
  caret: number,
  completions: readonly CodeCompletion[],
  ending: string,
): OfferedCompletions {
  const fitting = completions.filter(({ text }) => text.toLowerCase().startsWith(typed.toLowerCase()));
  return {
    from: caret - typed.length,
    to: caret,
    options: fitting
      .filter(({ text }) => text !== typed || ending !== '')
      .slice(0, SHOWN_MAX)
      .map((each) => optionOf(each, each.text + ending)),
  };
}

function optionOf({ text, detail = '' }: CodeCompletion, apply: string): OfferedCompletions['options'][number] {
  return { label: text, detail, apply };
}

function lineBefore(text: string, caret: number): string {
  return text.slice(text.lastIndexOf('\n', caret - 1) + 1, caret);
}
