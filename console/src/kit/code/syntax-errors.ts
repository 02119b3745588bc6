import { syntaxTree } from '@codemirror/language';
import type { EditorState, Range } from '@codemirror/state';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

const MARK = Decoration.mark({ class: 'code-bad' });
/** Number of characters before an error in which the last visible character is searched. */
const BEFORE = 200;

/** Underlines the parts of the visible text that are not in the language, such as a bracket without a partner. */
export const syntaxErrors = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = errorsIn(view);
    }

    update(update: ViewUpdate): void {
      const isParsed = syntaxTree(update.startState) !== syntaxTree(update.state);
      if (isParsed || update.docChanged || update.viewportChanged) this.decorations = errorsIn(update.view);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

function errorsIn({ state, visibleRanges }: EditorView): DecorationSet {
  const tree = syntaxTree(state);
  // A body that begins like another format, such as form data, is not JSON with errors.
  if (tree.topNode.name === 'JsonText' && !/^\s*["[{]/.test(state.sliceDoc(0, BEFORE))) return Decoration.none;
  const marks: Range<Decoration>[] = [];
  for (const visible of visibleRanges)
    tree.iterate({
      ...visible,
      enter: ({ type, from, to }) => {
        if (!type.isError) return;
        const wrong = state.sliceDoc(from, to);
        const start = wrong.trim() === '' ? lastVisibleBefore(state, from) : to - wrong.trimStart().length;
        const end = wrong.trim() === '' ? (start ?? 0) + 1 : from + wrong.trimEnd().length;
        if (start !== null) marks.push(MARK.range(start, end));
      },
    });
  return Decoration.set(marks, true);
}

/** Returns the last character before a position that is no white space. A missing part of the text is empty there. */
function lastVisibleBefore(state: EditorState, position: number): number | null {
  const before = state.sliceDoc(Math.max(0, position - BEFORE), position);
  const length = before.trimEnd().length;
  return length === 0 ? null : position - before.length + length - 1;
}
