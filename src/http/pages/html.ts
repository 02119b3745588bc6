/** A piece of HTML that may be put into a page as it stands: only `html` makes it. */
export class Html {
  private constructor(private readonly text: string) {}

  static readonly empty = new Html('');

  /** Markup as it is written here, with everything that is put into it escaped. */
  static from(parts: readonly string[], values: readonly HtmlValue[]): Html {
    return new Html(parts.map((part, i) => part + (i < values.length ? textOf(values[i] as HtmlValue) : '')).join(''));
  }

  toString(): string {
    return this.text;
  }
}

/** What may stand in a page: texts and numbers are escaped, null is nothing, lists stand one behind the other. */
export type HtmlValue = string | number | null | Html | readonly HtmlValue[];

/** A template whose values are escaped: for content and for attributes in double quotes, nowhere else. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return Html.from(parts, values);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function textOf(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
