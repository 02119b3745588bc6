import { javascriptLanguage } from '@codemirror/lang-javascript';
import { jsonLanguage } from '@codemirror/lang-json';
import { foldNodeProp, indentNodeProp, LRLanguage, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { tagHighlighter, tags } from '@lezer/highlight';
import { parser } from '@lezer/html';
import { mustacheTags } from './mustache-tags';
import { syntaxErrors } from './syntax-errors';

/** Language of an editor. `html` and `text` are templates with Mustache tags. */
export type CodeLanguage = 'json' | 'javascript' | 'html' | 'text';

/** HTML without the languages of its scripts and styles, which would double the size of the editor. */
const htmlLanguage = LRLanguage.define({
  name: 'html',
  parser: parser.configure({
    props: [
      foldNodeProp.add({
        Element({ firstChild, lastChild, to }) {
          if (firstChild?.name !== 'OpenTag') return null;
          return { from: firstChild.to, to: lastChild?.name === 'CloseTag' ? lastChild.from : to };
        },
      }),
      // Keeps the indentation of the line before. The structure of a template can differ from the structure of its HTML.
      indentNodeProp.add({ Document: () => null, Element: () => null }),
    ],
  }),
});

/** CSS classes of the tokens. The colors are in code-field.css. */
const highlighter = tagHighlighter([
  { tag: [tags.propertyName, tags.tagName], class: 'code-key' },
  { tag: [tags.string, tags.regexp, tags.attributeValue], class: 'code-string' },
  { tag: [tags.number, tags.attributeName, tags.character], class: 'code-number' },
  { tag: [tags.keyword, tags.bool, tags.null, tags.self], class: 'code-word' },
  { tag: [tags.comment, tags.documentMeta], class: 'code-comment' },
]);

const LANGUAGES: Readonly<Record<CodeLanguage, Extension>> = {
  json: [jsonLanguage, syntaxErrors],
  javascript: [javascriptLanguage, syntaxErrors],
  html: [htmlLanguage, mustacheTags],
  text: mustacheTags,
};

/** Returns the extensions that color, fold and check a language. */
export function languageOf(language: CodeLanguage): Extension {
  return [LANGUAGES[language], syntaxHighlighting(highlighter)];
}
