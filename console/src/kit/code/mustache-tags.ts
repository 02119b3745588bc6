import {
  Decoration,
  type DecorationSet,
  type EditorView,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';

const matcher = new MatchDecorator({
  regexp: /\{\{\{[^{}]*\}\}\}|\{\{[^{}]*\}\}/g,
  decoration: Decoration.mark({ class: 'code-tag' }),
});

/** Colors the Mustache tags of a template, also inside of attributes. */
export const mustacheTags = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = matcher.createDeco(view);
    }

    update(update: ViewUpdate): void {
      this.decorations = matcher.updateDeco(update, this.decorations);
    }
  },
  { decorations: ({ decorations }) => decorations },
);
