import pg from 'pg';
import ts from 'typescript';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { contains, type SqlLiteral, sqlLiterals, sqlLiteralsOf } from './sql-literals.js';
import {
  builtStatements,
  declaredStatements,
  listsOfEvents,
  type PlacedStatement,
  type Rejection,
  rejectionOf,
} from './sql-statements.js';

/** SQL literals that need not be part of a checked statement. The comment above each gives the reason. */
const EXCEPTIONS = [
  // The table name is a variable: each extension has its own table of applied migrations, which TypeORM creates.
  'src/bootstrap/data-source.ts: select name from "…" where name <> all($1) order by timestamp desc, id desc',
  // This statement names no table, so it does not depend on the schema. Its channel name is random.
  "src/kernel/database/connection-check.ts: select pg_notify('…', '')",
];

let database: TestDatabase;
let client: pg.Client;
let literals: SqlLiteral[];
let statements: PlacedStatement[];
let rejections: Rejection[];

beforeAll(async () => {
  database = await createDatabase('migrated');
  client = new pg.Client(database.url);
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `select distinct column_name as name from information_schema.columns where table_schema = 'public'`,
  );
  literals = sqlLiterals(new Set(rows.map(({ name }) => name)));
  const declared = await declaredStatements([...new Set(literals.map(({ file }) => file))]);
  statements = [...declared.statements, ...listsOfEvents(), ...(await builtStatements(database.url))];
  // Stores also pass statements as plain strings. Adds these strings, except those that are only a part of a collected
  // statement, because PostgreSQL cannot parse a part alone.
  for (const text of [...declared.texts, ...texts(literals)])
    if (!statements.some((statement) => statement.text.includes(text.text))) statements.push(text);
  rejections = await rejectionsOf(statements);
});

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

function texts(found: readonly SqlLiteral[]): PlacedStatement[] {
  return found.flatMap(({ file, line, parts, isStatement }) =>
    isStatement && parts.length === 1 ? [{ place: `${file}:${line}`, text: parts[0] ?? '' }] : [],
  );
}

async function rejectionsOf(checked: readonly PlacedStatement[]): Promise<Rejection[]> {
  const found: Rejection[] = [];
  for (const statement of checked) {
    const rejection = await rejectionOf(client, statement);
    if (rejection) found.push(rejection);
  }
  return found;
}

/** Returns the text without the quotation marks that TypeORM puts around column names, also within expressions. */
const unquoted = (text: string): string => text.replaceAll('"', '');

function uncovered(found: readonly SqlLiteral[]): string[] {
  return found
    .filter((literal) => !statements.some(({ text }) => contains(text, literal) || contains(unquoted(text), literal)))
    .map(({ file, parts }) => `${file}: ${parts.join('…').replaceAll(/\s+/g, ' ').trim()}`);
}

/** Returns the statements that PostgreSQL rejects while a table or column has another name. */
async function rejectionsWhile(renamed: string, back: string): Promise<Rejection[]> {
  await client.query(renamed);
  try {
    return await rejectionsOf(statements);
  } finally {
    await client.query(back);
  }
}

const placesOf = (found: readonly { place: string }[]): string[] =>
  [...new Set(found.map(({ place }) => place))].sort();
const placesThatName = (word: RegExp): string[] => placesOf(statements.filter(({ text }) => word.test(text)));

describe('SQL statements of the source', () => {
  it('are valid for the migrated schema: each table and column exists', () => {
    expect(rejections).toEqual([]);
  });

  it('are all checked: each SQL literal is part of a checked statement, apart from the exceptions', () => {
    expect(literals.filter(({ isStatement }) => isStatement).length).toBeGreaterThan(400);
    expect(uncovered(literals)).toEqual(EXCEPTIONS);
  });

  it('are rejected at each place that names a renamed column, with the file and line', async () => {
    const found = await rejectionsWhile(
      'alter table attempts rename column response_excerpt to excerpt',
      'alter table attempts rename column excerpt to response_excerpt',
    );

    expect(placesOf(found)).toEqual(placesThatName(/\bresponse_excerpt\b/));
    expect(found).toContainEqual({
      place: expect.stringMatching(/^src\/modules\/events\/events\.store\.ts:\d+$/),
      message: expect.stringMatching(/^column "response_excerpt" does not exist, at: response_excerpt as excerpt/),
    });
  });

  it('are rejected at each place that names a renamed table', async () => {
    const found = await rejectionsWhile(
      'alter table mail_reports rename to reports',
      'alter table reports rename to mail_reports',
    );

    expect(placesOf(found)).toEqual(placesThatName(/\bmail_reports\b/));
    expect(found.length).toBeGreaterThan(5);
  });

  it('count as unchecked if no checked statement contains them', () => {
    const source = `
      const statement = 'select id from events where unknown = $1';
      const fragment = (row: string): string => \`\${row}.expires_on > yesterday()\`;
      const known = 'select true as found from events';
      const prose = 'Select events, with their times.';`;
    const file = ts.createSourceFile('src/any.store.ts', source, ts.ScriptTarget.Latest, true);

    expect(uncovered(sqlLiteralsOf(file, new Set(['expires_on'])))).toEqual([
      'src/any.store.ts: select id from events where unknown = $1',
      'src/any.store.ts: ….expires_on > yesterday()',
    ]);
  });
});
