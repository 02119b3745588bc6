/** A row of an entity under the names of its columns, as SQL without aliases returns it: `created_at: Date`. */
export type Columns<Row> = { [Property in keyof Row & string as SnakeCase<Property>]: Row[Property] };

/** A row of an outer join: every column is null if there is no match. */
export type OuterJoined<Row> = { [Property in keyof Row]: Row[Property] | null };

type SnakeCase<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';
