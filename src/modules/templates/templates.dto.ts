import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, MatchesSchema } from '#http/validation.js';
import type { Page } from '#kernel/cursors.js';
import { badRequest } from '#kernel/errors.js';
import { showId } from '#kernel/ids.js';
import { UNSUBSCRIBE_SCHEMA, type UnsubscribeSetting } from '#modules/topics/contract.js';
import type { TemplateContent } from './template-content.js';
import type { TemplateLabels } from './template-keeper.js';
import type { RenderedContent } from './template-rendering.js';
import { type TemplateEntity, type TemplateVariable, VARIABLE_TYPES } from './templates.entities.js';
import type { TemplateView } from './templates.service.js';
import type { ListedVersion } from './templates.store.js';

const ID = 'tpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const TIME = '2026-11-21T09:30:00.000Z';
const VARIABLES_MAX = 50;
const REPLY_TO_MAX = 50;
const SUBJECT_CHARACTERS_MAX = 998;

const ADDRESSES = {
  oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: REPLY_TO_MAX }, { type: 'null' }],
};
const VALUE = {
  oneOf: [
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'array', items: {} },
    { type: 'object' },
    { type: 'null' },
  ],
};

/** Page of a list of templates or versions. */
export class TemplateListQuery {
  /** Start of the page: the `next_cursor` of the previous page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** A variable of a template. */
export class TemplateVariableBody {
  /** Name of the variable, as in `{{name}}`. */
  @ApiProperty({ example: 'first_name' })
  @IsString()
  @Matches(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/u)
  key: string;

  /** Type of the values. Emails with a value of another type are rejected with 422. */
  @ApiProperty({ example: 'string' })
  @IsIn(VARIABLE_TYPES)
  type: (typeof VARIABLE_TYPES)[number];

  /** Fallback for emails that do not set the variable. If omitted or `null`, every email must set the variable. */
  @ApiProperty({ example: 'customer' })
  @CanBeOmitted()
  @MatchesSchema(VALUE)
  fallback_value?: unknown;
}

/** The fields of a template, without its name. */
class TemplateFields {
  /** Alternative to the id in paths and emails, unique within the environment. It cannot begin with `tpl_`. */
  @ApiProperty({ example: 'order-confirmation' })
  @IsOptional()
  @IsString()
  @Matches(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u)
  alias?: string | null;

  /** Sender of emails that do not set `from`. Variables in it are not replaced. */
  @ApiProperty({ example: 'Shop <shop@simulator.localhost>' })
  @IsOptional()
  @IsString()
  @MaxLength(1024)
  from?: string | null;

  /** Reply addresses of emails that do not set `reply_to`. Variables in them are not replaced. */
  @ApiProperty({ example: ['support@example.com'] })
  @CanBeOmitted()
  @MatchesSchema(ADDRESSES)
  reply_to?: string | string[] | null;

  /** Subject of emails that do not set `subject`. Values of variables are inserted without escaping. */
  @ApiProperty({ example: 'Your order {{order}}' })
  @IsOptional()
  @IsString()
  @MaxLength(SUBJECT_CHARACTERS_MAX)
  subject?: string | null;

  /** HTML body, at most 512 KB. `{{name}}` inserts a value with HTML escaping, and `{{{name}}}` without. */
  @ApiProperty({ example: '<p>Hello {{first_name}}, your order {{order}} is on its way.</p>' })
  @IsOptional()
  @IsString()
  html?: string | null;

  /** Plain-text body, at most 512 KB. Values of variables are inserted without escaping. */
  @ApiProperty({ example: 'Hello {{first_name}}, your order {{order}} is on its way.' })
  @IsOptional()
  @IsString()
  text?: string | null;

  /**
   * Types and fallback values of at most 50 variables. A variable that is not listed accepts any type and has no
   * fallback.
   */
  @IsOptional()
  @IsArrayOf(() => TemplateVariableBody)
  @ArrayMaxSize(VARIABLES_MAX)
  variables?: TemplateVariableBody[] | null;

  /**
   * Adds the recipient's unsubscribe link to emails that do not set their own `unsubscribe` field. Accepts the same
   * values as that field. `false` or `null` removes the setting.
   */
  @ApiProperty({ example: { topic: 'newsletter' } })
  @IsOptional()
  @MatchesSchema(UNSUBSCRIBE_SCHEMA)
  unsubscribe?: UnsubscribeSetting | false | null;
}

/** Fields of a template to change. Omitted fields keep their values, and `null` removes a value. */
@Examples({
  subject: { summary: 'A new subject, in a new version', value: { subject: 'Order {{order}} is on its way' } },
})
export class TemplateChangesBody extends TemplateFields {
  /** Name of the template. */
  @ApiProperty({ example: 'Order confirmation' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 100)
  name?: string;
}

/** The template to create. */
@Examples({
  order: {
    summary: 'A template with two variables, one of them with a fallback',
    value: {
      name: 'Order confirmation',
      from: 'Shop <shop@simulator.localhost>',
      subject: 'Your order {{order}}',
      html: '<p>Hello {{first_name}}, your order {{order}} is on its way.</p>',
      text: 'Hello {{first_name}}, your order {{order}} is on its way.',
      variables: [
        { key: 'first_name', type: 'string', fallback_value: 'customer' },
        { key: 'order', type: 'number', fallback_value: 4711 },
      ],
    },
  },
})
export class NewTemplateBody extends TemplateFields {
  /** Name of the template. */
  @ApiProperty({ example: 'Order confirmation' })
  @IsString()
  @Length(1, 100)
  name: string;
}

/** The version to restore. */
@Examples({ first: { summary: 'The first version', value: { version: 1 } } })
export class TemplateRestoreBody {
  /** Number of the version. */
  @ApiProperty({ example: 1 })
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  version: number;
}

/** Variables to render a template with. */
@Examples({ order: { summary: 'Two variables', value: { variables: { first_name: 'Ada', order: 4711 } } } })
export class TemplateRenderBody {
  /** Values for the variables of the template. */
  @ApiProperty({ example: { first_name: 'Ada', order: 4711 } })
  @IsOptional()
  @IsObject()
  variables?: Record<string, unknown> | null;

  /** Version to render. Defaults to the latest one. */
  @ApiProperty({ example: 1 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  version?: number | null;
}

/** A template in a list. */
export class TemplateItem {
  /** Id of the template. */
  @ApiProperty({ example: ID })
  @IsString()
  id: string;

  /** Name of the template. */
  @ApiProperty({ example: 'Order confirmation' })
  @IsString()
  name: string;

  /** Alternative to the id in paths and emails; `null` if there is none. */
  @ApiProperty({ example: 'order-confirmation' })
  @CanBeNull()
  @IsString()
  alias: string | null;

  /** `published` if emails can use the template; `draft` until it is published for the first time. */
  @ApiProperty({ example: 'published' })
  @IsIn(['draft', 'published'])
  status: 'draft' | 'published';

  /** Number of the latest version. */
  @ApiProperty({ example: 2 })
  @IsInt()
  version: number;

  /** Number of the version that emails use; `null` until the template is published. */
  @ApiProperty({ example: 1 })
  @CanBeNull()
  @IsInt()
  published_version: number | null;

  /** `true` if the latest version is not the published one. */
  @ApiProperty({ example: true })
  @IsBoolean()
  has_unpublished_versions: boolean;

  /** Time of the last publication; `null` until the template is published. */
  @ApiProperty({ example: TIME })
  @CanBeNull()
  @IsDateTime()
  published_at: string | null;

  /** Time of creation. */
  @ApiProperty({ example: TIME })
  @IsDateTime()
  created_at: string;

  /** Time of the last change. */
  @ApiProperty({ example: TIME })
  @IsDateTime()
  updated_at: string;
}

/** One page of templates, newest first. */
export class TemplatePage {
  /** Templates on this page. */
  @IsArrayOf(() => TemplateItem)
  data: TemplateItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** A variable of a template. */
export class TemplateVariableItem {
  /** Name of the variable. */
  @ApiProperty({ example: 'first_name' })
  @IsString()
  key: string;

  /** Type of the values. */
  @ApiProperty({ example: 'string' })
  @IsIn(VARIABLE_TYPES)
  type: (typeof VARIABLE_TYPES)[number];

  /** Fallback for emails that do not set the variable; `null` if every email must set the variable. */
  @ApiProperty({ example: 'customer' })
  @MatchesSchema(VALUE)
  fallback_value: unknown;
}

/** A template with the content of one version. */
export class TemplateDetail extends TemplateItem {
  /** Sender of emails that do not set `from`; `null` if there is none. */
  @ApiProperty({ example: 'Shop <shop@example.com>' })
  @CanBeNull()
  @IsString()
  from: string | null;

  /** Reply addresses of emails that do not set `reply_to`. */
  @ApiProperty({ example: ['support@example.com'] })
  @IsArray()
  @IsString({ each: true })
  reply_to: string[];

  /** Subject of emails that do not set `subject`; `null` if there is none. */
  @ApiProperty({ example: 'Your order {{order}}' })
  @CanBeNull()
  @IsString()
  subject: string | null;

  /** HTML body; `null` if there is none. */
  @ApiProperty({ example: '<p>Hello {{first_name}}, your order {{order}} is on its way.</p>' })
  @CanBeNull()
  @IsString()
  html: string | null;

  /** Plain-text body; `null` if there is none. */
  @ApiProperty({ example: 'Hello {{first_name}}, your order {{order}} is on its way.' })
  @CanBeNull()
  @IsString()
  text: string | null;

  /** Variables with their types and fallback values. */
  @IsArrayOf(() => TemplateVariableItem)
  variables: TemplateVariableItem[];

  /** Unsubscribe setting for emails that do not set `unsubscribe` themselves; `null` if there is none. */
  @ApiProperty({ example: { topic: 'newsletter' } })
  @CanBeNull()
  @MatchesSchema(UNSUBSCRIBE_SCHEMA)
  unsubscribe: UnsubscribeSetting | null;
}

/** A version of a template in a list. */
export class TemplateVersionItem {
  /** Number of the version. */
  @ApiProperty({ example: 1 })
  @IsInt()
  version: number;

  /** Subject in this version; `null` if it has none. */
  @ApiProperty({ example: 'Your order {{order}}' })
  @CanBeNull()
  @IsString()
  subject: string | null;

  /** `true` if emails use this version. */
  @ApiProperty({ example: true })
  @IsBoolean()
  published: boolean;

  /** Time at which the version was saved. */
  @ApiProperty({ example: TIME })
  @IsDateTime()
  created_at: string;
}

/** One page of versions, newest first. */
export class TemplateVersionPage {
  /** Versions on this page. */
  @IsArrayOf(() => TemplateVersionItem)
  data: TemplateVersionItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** A version of a template with its content. */
export class TemplateVersionDetail extends TemplateVersionItem {
  /** Sender of emails that do not set `from`; `null` if there is none. */
  @ApiProperty({ example: 'Shop <shop@example.com>' })
  @CanBeNull()
  @IsString()
  from: string | null;

  /** Reply addresses of emails that do not set `reply_to`. */
  @ApiProperty({ example: ['support@example.com'] })
  @IsArray()
  @IsString({ each: true })
  reply_to: string[];

  /** HTML body; `null` if there is none. */
  @ApiProperty({ example: '<p>Hello {{first_name}}, your order {{order}} is on its way.</p>' })
  @CanBeNull()
  @IsString()
  html: string | null;

  /** Plain-text body; `null` if there is none. */
  @ApiProperty({ example: 'Hello {{first_name}}, your order {{order}} is on its way.' })
  @CanBeNull()
  @IsString()
  text: string | null;

  /** Variables with their types and fallback values. */
  @IsArrayOf(() => TemplateVariableItem)
  variables: TemplateVariableItem[];

  /** Unsubscribe setting for emails that do not set `unsubscribe` themselves; `null` if there is none. */
  @ApiProperty({ example: { topic: 'newsletter' } })
  @CanBeNull()
  @MatchesSchema(UNSUBSCRIBE_SCHEMA)
  unsubscribe: UnsubscribeSetting | null;
}

/** A rendered template. */
export class TemplateRendered {
  /** Number of the rendered version. */
  @ApiProperty({ example: 1 })
  @IsInt()
  version: number;

  /** Subject with the variables filled in; `null` if the template has none. */
  @ApiProperty({ example: 'Your order 4711' })
  @CanBeNull()
  @IsString()
  subject: string | null;

  /** HTML with the variables filled in; `null` if the template has none. */
  @ApiProperty({ example: '<p>Hello Ada, your order 4711 is on its way.</p>' })
  @CanBeNull()
  @IsString()
  html: string | null;

  /** Text with the variables filled in; `null` if the template has none. */
  @ApiProperty({ example: 'Hello Ada, your order 4711 is on its way.' })
  @CanBeNull()
  @IsString()
  text: string | null;

  /** Variables that have neither a value nor a fallback. An email without them is rejected with 422. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  missing_variables: string[];

  /** Given variables that the template does not use. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  unused_variables: string[];
}

/** Returns the version number that a path contains. Throws 400 for an invalid number. */
export function versionNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw badRequest('A version is a number, as in the list of versions.');
  return Number(text);
}

export function templateLabels({ name, alias }: NewTemplateBody): TemplateLabels {
  return { name, alias: alias ?? null };
}

export function newContent(body: NewTemplateBody): TemplateContent {
  return {
    sender: null,
    replyTo: [],
    subject: null,
    html: null,
    text: null,
    variables: [],
    unsubscribe: null,
    ...contentChanges(body),
  };
}

export function labelChanges({ name, alias }: TemplateChangesBody): Partial<TemplateLabels> {
  return { ...(name !== undefined && { name }), ...(alias !== undefined && { alias }) };
}

export function contentChanges({
  from,
  reply_to: replyTo,
  subject,
  html,
  text,
  variables,
  unsubscribe,
}: TemplateFields): Partial<TemplateContent> {
  return {
    ...(from !== undefined && { sender: from }),
    ...(replyTo !== undefined && { replyTo: replyTo === null ? [] : [replyTo].flat() }),
    ...(subject !== undefined && { subject }),
    ...(html !== undefined && { html }),
    ...(text !== undefined && { text }),
    ...(unsubscribe !== undefined && { unsubscribe: unsubscribe || null }),
    ...(variables !== undefined && {
      variables: (variables ?? []).map(({ key, type, fallback_value: fallback }) => ({
        key,
        type,
        fallback: fallback ?? null,
      })),
    }),
  };
}

export function presentItem(row: TemplateEntity): TemplateItem {
  const { id, name, alias, version, publishedVersion, publishedAt, createdAt, updatedAt } = row;
  return {
    id: showId('tpl', id),
    name,
    alias,
    status: publishedVersion === null ? 'draft' : 'published',
    version,
    published_version: publishedVersion,
    has_unpublished_versions: publishedVersion !== version,
    published_at: publishedAt?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

export function presentPage({ rows, nextCursor }: Page<TemplateEntity>): TemplatePage {
  return { data: rows.map(presentItem), next_cursor: nextCursor };
}

export function presentTemplate({ template, content }: TemplateView): TemplateDetail {
  return { ...presentItem(template), subject: content.subject, ...presentContent(content) };
}

export function presentVersions({
  template,
  page: { rows, nextCursor },
}: {
  template: TemplateEntity;
  page: Page<ListedVersion>;
}): TemplateVersionPage {
  return { data: rows.map((row) => presentVersionItem(template, row)), next_cursor: nextCursor };
}

export function presentVersion({ template, content }: TemplateView): TemplateVersionDetail {
  return { ...presentVersionItem(template, content), ...presentContent(content) };
}

export function presentRendered({ content, rendered }: TemplateView & { rendered: RenderedContent }): TemplateRendered {
  const { subject, html, text, missing, unused } = rendered;
  return {
    version: content.version,
    subject,
    html,
    text,
    missing_variables: missing.map(({ name }) => name),
    unused_variables: unused,
  };
}

function presentVersionItem(
  { publishedVersion }: TemplateEntity,
  { version, subject, createdAt }: ListedVersion,
): TemplateVersionItem {
  return { version, subject, published: version === publishedVersion, created_at: createdAt.toISOString() };
}

function presentContent({
  sender,
  replyTo,
  html,
  text,
  variables,
  unsubscribe,
}: TemplateContent): Omit<TemplateDetail, keyof TemplateItem | 'subject'> {
  return { from: sender, reply_to: replyTo, html, text, variables: variables.map(presentVariable), unsubscribe };
}

function presentVariable({ key, type, fallback }: TemplateVariable): TemplateVariableItem {
  return { key, type, fallback_value: fallback };
}
