import { EditorView } from '@codemirror/view';
import { type TextRange, withLineFeeds } from './text-change';

/**
 * Replaces selected text, and inserts text with line breaks, in place of the browser. The browser would keep the look of
 * the replaced elements with inline styles, which the content security policy forbids.
 */
export const typedText = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.isComposing || view.composing || view.state.readOnly) return false;
    const text = textOf(event);
    if (text === null) return false;
    const { main } = view.state.selection;
    const { from, to } = main.empty ? targetOf(event, view) : main;
    const isSimple = from === to && !text.includes('\n');
    if (isSimple || (main.empty && text === '')) return false;
    view.dispatch({
      changes: { from, to, insert: text },
      selection: { anchor: from + text.length },
      scrollIntoView: true,
      userEvent: text === '' ? 'delete' : 'input.type',
    });
    return true;
  },
});

/** Returns the text that the event inserts: empty for a deletion, and null for events of other kinds. */
function textOf({ inputType, data }: InputEvent): string | null {
  if (inputType.startsWith('delete')) return '';
  return inputType === 'insertText' && data !== null ? withLineFeeds(data) : null;
}

/** Returns the range that the browser would replace. The editor can still have an older selection. */
function targetOf(event: InputEvent, view: EditorView): TextRange {
  const [range] = event.getTargetRanges();
  if (range === undefined) return view.state.selection.main;
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  };
}
