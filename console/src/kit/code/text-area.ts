import type { CSSProperties } from 'react';
import { completedText, completionPlace } from './completion';
import { lineStartsOf, tokenize } from './tokens';

/** Inserts a text into JSON at the caret, as a string. Inside of a string, replaces the string's content. */
export function insertAtCaret(field: HTMLTextAreaElement | null, text: string): void {
  if (field === null) return;
  const caret = field.selectionStart;
  const place = completionPlace(field.value, tokenize(field.value, 'json'), caret);
  field.focus();
  if (place !== null && !place.opens) field.setSelectionRange(place.from, place.to);
  // Inserts the text as if the user typed it, so that the user can undo the insertion.
  document.execCommand('insertText', false, place === null ? JSON.stringify(text) : completedText(place, text));
}

/** Moves the caret to the start of a line, and scrolls the line into the middle. */
export function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return;
  const start = lineStartsOf(field.value)[line - 1] ?? field.value.length;
  field.focus();
  field.setSelectionRange(start, start);
  const { lineHeight } = getComputedStyle(field);
  field.scrollTop = (line - 1) * parseFloat(lineHeight) - field.clientHeight / 2;
}

/**
 * Returns the position of a list below a character, relative to the editor's frame. The list stays within this frame.
 */
export function placeBelowCaret(field: HTMLTextAreaElement | null, at: number): CSSProperties {
  const area = field?.parentElement;
  if (field === null || !area) return {};
  const { lineHeight } = getComputedStyle(field);
  const before = field.value.slice(0, at);
  const row = before.split('\n').length;
  const column = at - (before.lastIndexOf('\n') + 1);
  return {
    top: `calc(0.5rem + ${row * parseFloat(lineHeight) - field.scrollTop}px)`,
    left: `max(0px, min(calc(0.625rem + ${area.offsetLeft - field.scrollLeft}px + ${column}ch), 100% - 18rem))`,
  };
}
