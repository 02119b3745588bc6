import { type EditorState, type Extension, type Line, RangeSet, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, gutterLineClass, GutterMarker } from '@codemirror/view';

/** The error of a text, and its line if known. */
export interface CodeFault {
  line: number | null;
  message: string;
}

export const setFault = StateEffect.define<CodeFault | null>();

const faultField = StateField.define<CodeFault | null>({
  create: () => null,
  update: (fault, { effects }) => effects.reduce((last, effect) => (effect.is(setFault) ? effect.value : last), fault),
});

const faultyNumber = new (class extends GutterMarker {
  override elementClass = 'faulty';
})();

/** Marks the line of the error. CSS shows the message behind the line. */
export const faultLine: Extension = [
  faultField,
  EditorView.contentAttributes.compute([faultField], (state) => ({
    'aria-invalid': String(state.field(faultField) !== null),
  })),
  EditorView.decorations.compute(['doc', faultField], (state) => {
    const line = lineOf(state);
    const message = state.field(faultField)?.message ?? '';
    if (line === null) return Decoration.none;
    return Decoration.set(
      Decoration.line({ class: 'code-line faulty', attributes: { 'data-fault': message } }).range(line.from),
    );
  }),
  gutterLineClass.compute(['doc', faultField], (state) => {
    const line = lineOf(state);
    return RangeSet.of<GutterMarker>(line === null ? [] : faultyNumber.range(line.from));
  }),
];

function lineOf(state: EditorState): Line | null {
  const number = state.field(faultField)?.line ?? null;
  return number === null || number < 1 || number > state.doc.lines ? null : state.doc.line(number);
}
