import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsObject, IsString, Length } from 'class-validator';
import { findMemberRange } from '#engine/member-range.js';
import { Examples } from '#http/openapi-examples.js';
import { RoundsNumbers } from '#http/schemas.js';
import { CanBeOmitted, IsArrayOf } from '#http/validation.js';
import type { Imported, ImportOptions } from './import.js';

const SPEC_EXAMPLE = {
  openapi: '3.1.0',
  webhooks: {
    'invoice.paid': { post: { requestBody: { content: { 'application/json': { schema: { type: 'object' } } } } } },
  },
};

/** An OpenAPI document whose webhooks become event types. Exactly one of `spec` and `text` is required. */
@Examples({
  trial: { summary: 'Preview of an import', value: { spec: SPEC_EXAMPLE, dry_run: true } },
  import: { summary: 'An import', value: { spec: SPEC_EXAMPLE } },
})
export class OpenApiImportBody {
  /** The document as a JSON object. */
  @RoundsNumbers()
  @ApiProperty({ example: SPEC_EXAMPLE })
  @CanBeOmitted()
  @IsObject()
  spec?: Record<string, unknown>;

  /** The document as JSON or YAML, at most 1 MB. */
  @ApiProperty({ example: 'openapi: 3.1.0\nwebhooks: {}\n' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 1_048_576)
  text?: string;

  /** If `true`, event types that are not in the document are archived. */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  replace_all?: boolean;

  /** If `true`, the response shows the result of the import, but nothing is changed. */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  dry_run?: boolean;

  /**
   * `true` to enforce the schemas of the document's event types, `false` to stop enforcing them. If omitted, existing
   * types keep their setting and new types are not enforced.
   */
  @ApiProperty({ example: false })
  @CanBeOmitted()
  @IsBoolean()
  enforce?: boolean;
}

/** A number in the document that an import stores with a different value. */
export class ChangedNumber {
  /** Path of the number in the document. */
  @ApiProperty({ example: 'spec.components.schemas.Invoice.properties.id.maximum' })
  @IsString()
  path: string;

  /** Value of the number in the document, and the value that is stored. */
  @ApiProperty({
    example: '9223372036854775807 would be stored as 9223372036854776000: write it as a string, or with fewer digits',
  })
  @IsString()
  message: string;
}

/** Result of an import. Event types are given by their names. */
export class OpenApiImported {
  /** Event types that were created. */
  @ApiProperty({ example: ['invoice.paid'] })
  @IsArray()
  @IsString({ each: true })
  created: string[];

  /** Event types that were changed. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  updated: string[];

  /** Event types that were already up to date. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  unchanged: string[];

  /** Event types that were archived because the document does not have them. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  archived: string[];

  /**
   * Numbers of the OpenAPI document that were changed, because a double cannot represent them exactly: the first 20 in
   * its sections `webhooks` and `components`.
   */
  @ApiProperty({ example: [] })
  @IsArrayOf(() => ChangedNumber)
  changed_numbers: ChangedNumber[];

  /** `true` if this was only a preview and nothing was changed. */
  @ApiProperty({ example: false })
  @IsBoolean()
  dry_run: boolean;
}

/**
 * Returns the options of an import. `bodyText` is the raw request body, which contains the original digits of numbers.
 */
export function importOptions(body: OpenApiImportBody, bodyText: string): ImportOptions {
  const { spec, text, replace_all: replaceAll = false, dry_run: dryRun = false, enforce } = body;
  const span = findMemberRange(bodyText, 'spec');
  return {
    spec: spec && { document: spec, text: bodyText.slice(span?.start, span?.end) },
    text,
    replaceAll,
    dryRun,
    enforce,
  };
}

export function presentImport(
  { created, updated, unchanged, archived, changedNumbers }: Imported,
  dryRun: boolean,
): OpenApiImported {
  return { created, updated, unchanged, archived, changed_numbers: changedNumbers, dry_run: dryRun };
}
