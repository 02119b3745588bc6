import { completedText, completionPlace } from './completion';

/** Inserts a text into JSON at the caret, as a string. Inside of a string, replaces the string's content. */
export function insertAtCaret(field: HTMLTextAreaElement | null, text: string): void {
  if (field === null) return;
  const place = completionPlace(field.value, field.selectionStart);
  field.focus();
  if (place !== null && !place.opens) field.setSelectionRange(place.from, place.to);
  // Inserts the text as if the user typed it, so that the user can undo the insertion.
  document.execCommand('insertText', false, place === null ? JSON.stringify(text) : completedText(place, text));
}

/** Moves the caret to the start of a line, and scrolls the line into the middle. */
export function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return;
  const start =
    field.value
      .split('\n')
      .slice(0, line - 1)
      .join('\n').length + (line === 1 ? 0 : 1);
  field.focus();
  field.setSelectionRange(start, start);
  const { lineHeight } = getComputedStyle(field);
  field.scrollTop = (line - 1) * parseFloat(lineHeight) - field.clientHeight / 2;
}
