// Finds sentences that break the project's language rules. It is incomplete, because it only matches patterns.
//
// node tools/check-language.mjs            every comment and every page
// node tools/check-language.mjs FILE ...   these files
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const IGNORED =
  /^(test\/vectors|src\/client\/openapi\.ts|console\/src\/kit\/messages\/de|console\/src\/portal\/texts-de)/;
const CODE = /\.(tsx?|[cm]?js|mts)$/;
/** Matches files whose comments begin with `#`. */
const HASH = /(^|\/)(Dockerfile|\.env\.example|\.ci\/run)$|\.(conf|map|yml)$/;

const RULES = [
  {
    pattern:
      /(?:^[ \t]*|[.:;!] +)(?:What|Whatever|Who|Whoever|Nobody|Somebody|One that) (?!is\b.*\?|are\b.*\?|if\b)[a-z]/gm,
    advice: 'name the noun instead of What, Who, Whoever, Nobody, Somebody or One that',
  },
  { pattern: /\b(?:is|are|was|were|be|been|being) told\b/g, advice: 'say who notifies, logs, reports or returns' },
  { pattern: /\b(?:he|his|him|himself)\b/gi, advice: 'people are they' },
];

/**
 * Returns the comments of a code file, or a page without its code. Spaces replace the removed characters, so that
 * positions stay the same.
 */
function prose(file, text) {
  if (file.endsWith('.md'))
    return text.replace(/```[\s\S]*?```|`[^`\n]*`/g, blank).replace(/^(?:[>|*#\s-]|\d+\.)+/gm, blank);
  if (HASH.test(file)) return text.replace(/^(?!\s*#).*$/gm, blank).replace(/^\s*#+/gm, blank);
  const ranges = new Map();
  const source = ts.createSourceFile(
    file,
    text,
    ts.ScriptTarget.Latest,
    true,
    file.endsWith('x') ? ts.ScriptKind.TSX : undefined,
  );
  const add = (found) => found?.forEach(({ pos, end }) => ranges.set(pos, end));
  const visit = (node) => {
    if (node.kind === ts.SyntaxKind.JsxText) return;
    add(ts.getLeadingCommentRanges(text, node.getFullStart()));
    add(ts.getTrailingCommentRanges(text, node.end));
    node.getChildren(source).forEach(visit);
  };
  visit(source);
  let shown = '';
  for (const [pos, end] of [...ranges].sort(([a], [b]) => a - b)) {
    if (pos < shown.length) continue;
    shown += blank(text.slice(shown.length, pos));
    // Replaces the comment markers by spaces, so that a sentence can continue on the next line.
    shown += text
      .slice(pos, end)
      .replace(/^\s*(?:\/\*\*?|\/\/|\*\/|\*)/gm, blank)
      .replace(/\*\/$/, '  ')
      .replace(/`[^`\n]*`/g, blank);
  }
  return shown.replace(/([^.:;!?\s])[ \t]*\n[ \t]*(?=\S)/g, (all) => all.replaceAll('\n', ' ').padEnd(all.length));
}

const blank = (text) => text.replace(/[^\n]/g, ' ');

function faults(file) {
  const text = readFileSync(file, 'utf8');
  const shown = prose(file, text);
  const lineOf = (index) => text.slice(0, index).split('\n').length;
  return RULES.flatMap(({ pattern, advice }) =>
    [...shown.matchAll(pattern)].map(
      (match) => `${file}:${lineOf(match.index + match[0].search(/[A-Za-z]/))} "${match[0].trim()}": ${advice}`,
    ),
  );
}

/** Returns all files of a checkout, even if the checkout has no history. */
function tracked() {
  try {
    return execFileSync('git', ['ls-files'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n');
  } catch {
    const isOwn = (file) => !/(^|\/)(node_modules|dist|\.posthorn|results)\//.test(`${file}/`);
    return readdirSync('.', { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name))
      .filter(isOwn);
  }
}
const given = process.argv.slice(2);
const files = (given.length > 0 ? given : tracked()).filter(
  (file) => (CODE.test(file) || HASH.test(file) || file.endsWith('.md')) && !IGNORED.test(file),
);
const found = files.flatMap(faults);
for (const fault of found) console.error(fault);
if (found.length > 0) console.error(`${found.length} sentences to reword.`);
process.exitCode = found.length > 0 ? 1 : 0;
