import { type RefObject, useState } from 'react';
import { type CodeCompletion, completedText, type CompletionPlace, completionPlace, completionsAt } from './completion';
import { tokenize } from './tokens';

/** The open list of completions. */
export interface OpenCompletion {
  place: CompletionPlace;
  completions: readonly CodeCompletion[];
  chosen: number;
}

/** Completion of JSON in a text area. The keys of the open list have precedence over the keys of the editor. */
export function useCompletion(field: RefObject<HTMLTextAreaElement | null>, offered: readonly CodeCompletion[]) {
  const [open, setOpen] = useState<OpenCompletion | null>(null);
  const close = (): void => setOpen(null);
  /** Opens the list at the caret if there are completions. While the user types, opens it only in quotation marks. */
  const suggest = (isTyping: boolean): void => {
    const element = field.current;
    const caret = element?.selectionStart ?? 0;
    if (element === null || offered.length === 0 || caret !== element.selectionEnd) return close();
    const place = completionPlace(element.value, tokenize(element.value, 'json'), caret);
    const completions = place === null || (isTyping && place.opens) ? [] : completionsAt(place, offered);
    setOpen(place === null || completions.length === 0 ? null : { place, completions, chosen: 0 });
  };
  const accept = (completion: CodeCompletion): void => {
    const element = field.current;
    if (element === null || open === null) return;
    element.focus();
    element.setSelectionRange(open.place.from, open.place.to);
    // Inserts the text as if the user typed it, so that the user can undo the insertion.
    document.execCommand('insertText', false, completedText(open.place, completion.text));
    close();
  };
  /** Handles a key press while the list is open. Returns whether the list used the key. */
  const press = (key: string): boolean => {
    if (open === null) return false;
    const { completions, chosen } = open;
    const picked = completions[chosen];
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step !== undefined) setOpen({ ...open, chosen: (chosen + step + completions.length) % completions.length });
    else if (key === 'Escape') close();
    else if ((key === 'Enter' || key === 'Tab') && picked !== undefined) accept(picked);
    else return false;
    return true;
  };
  return { open, suggest, accept, press, close };
}
