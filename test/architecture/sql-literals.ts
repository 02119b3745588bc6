import ts from 'typescript';
import { lineOf, parse } from './module-values.js';
import { filesBelow, textOf } from './source-tree.js';

/** A string or template literal in the source that contains SQL. */
export interface SqlLiteral {
  file: string;
  line: number;
  /** The constant parts, in order. Between each two parts is the value of an expression. */
  parts: string[];
  /** True if the literal starts as a statement does. Other literals are fragments. */
  isStatement: boolean;
}

/** Folders with clients of the HTTP API, whose texts are prose and not SQL. */
const WITHOUT_SQL = /^src\/(cli|client)\//;
const STATEMENT =
  /^[\s(]*(select|insert\s+into|update|delete\s+from|merge\s+into|with\s+(recursive\s+)?\w+\s*(\([^)]*\)\s*)?as)(\s|\(|$)/;
const MAY_HOLD_STATEMENT = /['"`][\s(]*(select|insert|update|delete|merge|with)\s/;
/**
 * Matches a query builder's parameter, such as `:prefix`, which TypeORM replaces with `$1`. Does not match casts, which
 * have two colons.
 */
const NAMED_PARAMETER = /(?<!:):[a-z]\w*/i;

export const isStatement = (text: string): boolean => STATEMENT.test(text);

/**
 * Returns the SQL literals below src: every statement, and every fragment that names a column and is in a file with
 * statements.
 */
export function sqlLiterals(columns: ReadonlySet<string>): SqlLiteral[] {
  return filesBelow('src')
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !WITHOUT_SQL.test(file))
    .filter((file) => MAY_HOLD_STATEMENT.test(textOf(file)))
    .map((file) => sqlLiteralsOf(parse(file), columns))
    .filter((literals) => literals.some((literal) => literal.isStatement))
    .flat();
}

export function sqlLiteralsOf(source: ts.SourceFile, columns: ReadonlySet<string>): SqlLiteral[] {
  const found: SqlLiteral[] = [];
  const visit = (node: ts.Node): void => {
    const parts = partsOf(node);
    if (parts && (isStatement(parts[0] ?? '') || isFragment(parts, columns)))
      found.push({ file: source.fileName, line: lineOf(node), parts, isStatement: isStatement(parts[0] ?? '') });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Returns whether a text contains the literal: all constant parts, in order. */
export function contains(text: string, { parts }: Pick<SqlLiteral, 'parts'>): boolean {
  let at = 0;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}

/** Returns whether a text is part of an SQL statement: at least two words, one of which names a column. */
function isFragment(parts: readonly string[], columns: ReadonlySet<string>): boolean {
  const text = parts.join(' ? ').trim();
  return /\s/.test(text) && (text.match(/\b[a-z]+(_[a-z]+)+\b/g) ?? []).some((word) => columns.has(word));
}

function partsOf(node: ts.Node): string[] | null {
  if (ts.isStringLiteralLike(node)) return node.text.split(NAMED_PARAMETER);
  if (!ts.isTemplateExpression(node)) return null;
  const parts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  return parts.flatMap((part) => part.split(NAMED_PARAMETER));
}
