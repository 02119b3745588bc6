import { createHash } from 'node:crypto';
import { isObject } from '#engine/conditions/faults.js';
import { Html, html } from '#http/pages/html.js';
import { NO_ICON } from '#http/pages/page.js';
import type { CatalogRow } from './event-types.store.js';
import { type FieldRow, fieldsOf } from './schema-table.js';

export interface CatalogView {
  organization: string;
  mode: 'live' | 'test';
  types: readonly CatalogRow[];
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --quiet: #6b7280; --code: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { margin: 0; } h2 { margin: 3rem 0 0; border-bottom: 1px solid var(--line); } h3 { margin: 2rem 0 0; font-family: ui-monospace, monospace; }
p { margin: .5rem 0; white-space: pre-line; } .quiet { color: var(--quiet); font-size: .875rem; font-weight: normal; }
nav ul { columns: 16rem; padding-left: 1.25rem; } nav a { font-family: ui-monospace, monospace; font-size: .875rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .375rem .75rem .375rem 0; border-bottom: 1px solid var(--line); min-width: 5rem; }
pre { background: var(--code); padding: .75rem; overflow-x: auto; font-size: .8125rem; overflow-wrap: normal; }
summary { cursor: pointer; } a { color: inherit; }
`;

/** Content-Security-Policy of the page. It allows only the page's own stylesheet and an empty icon: no scripts, no forms, no frames. */
export const CATALOG_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Returns the HTML of the catalog page. All texts come from a tenant and are escaped. */
export function catalogPage({ organization, mode, types }: CatalogView): string {
  const groups = new Set(types.map(({ group }) => group));
  // The anchors are numbers, because names may contain characters that are not valid in a URL fragment.
  const anchors = new Map(types.map((type, i) => [type, `type-${i + 1}`]));
  const title = `${organization}: event types${mode === 'test' ? ' (test)' : ''}`;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${NO_ICON}">
<style>${STYLE_TEXT}</style>
</head>
<body>
<header><h1>${title}</h1></header>
${types.length === 0 ? html`<p>There are no event types yet.</p>` : index(types, anchors)}
<main>
${[...groups].map((group) =>
  groupSection(
    group,
    types.filter((type) => type.group === group),
    anchors,
  ),
)}
</main>
</body>
</html>
`);
}

/** The stylesheet needs no escaping, because it contains no characters that HTML interprets. */
const STYLE_TEXT = Html.from([STYLE], []);

function index(types: readonly CatalogRow[], anchors: ReadonlyMap<CatalogRow, string>): Html {
  return html`<nav><ul>${types.map((type) => html`<li><a href="#${anchors.get(type) ?? null}">${type.name}</a></li>`)}</ul></nav>`;
}

function groupSection(
  group: string | null,
  types: readonly CatalogRow[],
  anchors: ReadonlyMap<CatalogRow, string>,
): Html {
  const heading = group === null ? Html.empty : html`<h2>${group}</h2>`;
  return html`<section>${heading}${types.map((type) => typeArticle(type, anchors.get(type) ?? ''))}</section>
`;
}

function typeArticle(type: CatalogRow, anchor: string): Html {
  const enforced = type.enforce ? ', payloads are validated against the schema' : '';
  return html`<article id="${anchor}">
<h3>${type.name} <span class="quiet">version ${type.version}${enforced}</span></h3>
${type.description === null ? null : html`<p>${type.description}</p>`}
${type.isComplete ? null : html`<p class="quiet">Its schema and its example are too large for this page.</p>`}
${type.schema === null ? null : schemaPart(type.schema)}
${type.example === null ? null : html`<p class="quiet">Example</p><pre>${indented(type.example)}</pre>`}
</article>
`;
}

function schemaPart(schema: Record<string, unknown>): Html {
  const fields = fieldsOf(schema);
  return html`${fields.length === 0 ? null : fieldTable(fields)}
<details><summary class="quiet">Schema</summary><pre>${indented(schema)}</pre></details>`;
}

function fieldTable(fields: readonly FieldRow[]): Html {
  const rows = fields.map(
    ({ path, type, required, description }) =>
      html`<tr><td><code>${path}</code></td><td>${type}</td><td>${required ? 'yes' : 'no'}</td><td>${description}</td></tr>
`,
  );
  return html`<div class="wide"><table><thead><tr><th>Field</th><th>Type</th><th>Required</th><th>Description</th></tr></thead><tbody>
${rows}</tbody></table></div>`;
}

const indented = (value: unknown): string => (isObject(value) ? JSON.stringify(value, null, 2) : '');
