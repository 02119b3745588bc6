import { type KeyboardEvent, useRef } from 'react';
import { newLineAt } from './indentation';
import type { useCompletion } from './use-completion';

interface CodeKeys {
  isReadOnly: boolean;
  onRun: (() => void) | undefined;
  completion: ReturnType<typeof useCompletion>;
}

/** Keys of the editor. After Escape, Tab moves the focus, so that keyboard users can leave the field. */
export function useCodeKeys({ isReadOnly, onRun, completion }: CodeKeys) {
  const isLeaving = useRef(false);
  /** Inserts the text as if the user typed it, so that the user can undo the insertion. */
  const insert = (text: string): void => {
    document.execCommand('insertText', false, text);
  };
  /**
   * Handles the keys that control the completion list, run the code or indent it. Returns whether it handled the key.
   */
  const handle = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    const { key, shiftKey } = event;
    const { selectionStart, value } = event.currentTarget;
    const isCommand = event.ctrlKey || event.metaKey;
    const isPlain = !isCommand && !shiftKey && !event.altKey && !event.nativeEvent.isComposing;
    if (key === 'Enter' && isCommand && onRun !== undefined) onRun();
    else if (key === ' ' && event.ctrlKey) completion.suggest(false);
    else if (isPlain && completion.press(key)) return true;
    else if (isReadOnly) return false;
    else if (key === 'Tab' && !shiftKey && !isLeaving.current) insert('  ');
    else if (key === 'Enter' && isPlain) insert(newLineAt(value, selectionStart));
    else return false;
    return true;
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const { key } = event;
    if (handle(event)) event.preventDefault();
    else if (key === 'Escape') {
      // Keeps the dialog open at the first Escape. The second Escape closes it.
      if (!isLeaving.current) event.preventDefault();
      isLeaving.current = true;
    } else if (key !== 'Shift' && key !== 'Tab') {
      isLeaving.current = false;
      if (/^(?:Arrow|Home|End)/.test(key)) completion.close();
    }
  };
  const enter = (): void => {
    isLeaving.current = false;
  };
  return { press, enter };
}
