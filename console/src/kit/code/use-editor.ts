import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { CodeEditor, EditorOptions } from './editor';
import type { TextRange } from './text-change';

type EditorPart = typeof import('./editor');

let loaded: EditorPart | null = null;
let loading: Promise<EditorPart | null> | null = null;

/**
 * Loads the editor. Returns null if its file cannot be loaded: the text area stays, and the next editor on the screen
 * tries again. The page must not reload for a missing file, because the user may have typed text.
 */
function loadEditor(): Promise<EditorPart | null> {
  loading ??= import('./editor').then(
    (part) => (loaded = part),
    () => (loading = null),
  );
  return loading;
}

/**
 * Replaces a text area with the editor as soon as the editor is loaded, with the text, the selection and the focus.
 * Returns null as long as the text area is needed.
 */
export function useEditor(
  options: EditorOptions,
  host: RefObject<HTMLElement | null>,
  field: RefObject<HTMLTextAreaElement | null>,
  isComposing: boolean,
): CodeEditor | null {
  const [part, setPart] = useState(loaded);
  const [editor, setEditor] = useState<CodeEditor | null>(null);
  const latest = useRef(options);
  const { language, isReadOnly } = options;
  useEffect(() => {
    let isGone = false;
    void loadEditor().then((arrived) => {
      if (!isGone) setPart(arrived);
    });
    return () => {
      isGone = true;
    };
  }, []);
  useLayoutEffect(() => {
    latest.current = options;
    editor?.update(options);
  });
  useLayoutEffect(() => {
    // An input method loses the text that it composes if its field disappears.
    if (part === null || host.current === null || isComposing) return;
    const made = new part.CodeEditor(host.current, latest.current, selectionOf(field.current));
    // The text area disappears only after this effect, so that it can pass on the focus.
    if (field.current !== null && document.activeElement === field.current) made.focus();
    setEditor(made);
    return () => {
      made.destroy();
      setEditor(null);
    };
  }, [part, host, field, isComposing, language, isReadOnly]);
  return editor;
}

function selectionOf(field: HTMLTextAreaElement | null): TextRange | null {
  if (field === null || document.activeElement !== field) return null;
  return { from: field.selectionStart, to: field.selectionEnd };
}
