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
  /** Inserts the text as if the user typed it, so that it can be undone. */
  const insert = (event: KeyboardEvent, text: string): void => {
    event.preventDefault();
    document.execCommand('insertText', false, text);
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const { key, ctrlKey, metaKey, shiftKey, altKey, nativeEvent } = event;
    const isPlain = !ctrlKey && !metaKey && !shiftKey && !altKey && !nativeEvent.isComposing;
    const { selectionStart, value } = event.currentTarget;
    if (key === 'Enter' && (ctrlKey || metaKey) && onRun !== undefined) {
      event.preventDefault();
      onRun();
    } else if (isPlain && completion.press(key)) event.preventDefault();
    else if (key === ' ' && ctrlKey) {
      event.preventDefault();
      completion.suggest(false);
    } else if (key === 'Escape') {
      // Keeps the dialog open at the first Escape. The second Escape closes it.
      if (!isLeaving.current) event.preventDefault();
      isLeaving.current = true;
    } else if (key === 'Tab' && !shiftKey && !isLeaving.current && !isReadOnly) insert(event, '  ');
    else if (key === 'Enter' && isPlain && !isReadOnly) insert(event, newLineAt(value, selectionStart));
    else if (key !== 'Shift' && key !== 'Tab') {
      isLeaving.current = false;
      if (key.startsWith('Arrow') || key === 'Home' || key === 'End') completion.close();
    }
  };
  const enter = (): void => {
    isLeaving.current = false;
  };
  return { press, enter };
}
