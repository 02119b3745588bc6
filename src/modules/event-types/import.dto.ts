import { ApiProperty } from '@nestjs/swagger';
import { findMemberRange } from '#engine/member-range.js';
import { Examples } from '#http/openapi-examples.js';
import { TellsNumbers } from '#http/schemas.js';
import type { Imported, ImportOptions } from './import.js';

const SPEC_EXAMPLE = {
  openapi: '3.1.0',
  webhooks: {
    'invoice.paid': { post: { requestBody: { content: { 'application/json': { schema: { type: 'object' } } } } } },
  },
};

/** An OpenAPI document whose webhooks become event types; `spec` or `text`, one of the two. */
@Examples({
  trial: { summary: 'What an import would do', value: { spec: SPEC_EXAMPLE, dry_run: true } },
  import: { summary: 'An import', value: { spec: SPEC_EXAMPLE } },
})
export class OpenApiImportBody {
  /** The document as an object. */
  @TellsNumbers()
  @ApiProperty({ selfRequired: false, type: 'object', additionalProperties: true, example: SPEC_EXAMPLE })
  spec?: Record<string, unknown>;

  /** The document as JSON or YAML, at most 1 MB. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 1_048_576, example: 'openapi: 3.1.0\nwebhooks: {}\n' })
  text?: string;

  /** Archives the event types that are not in the document. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: false })
  replace_all?: boolean;

  /** Only says what would happen. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: false })
  dry_run?: boolean;

  /** Whether the types of the document that have a schema are enforced; left out, types stay as they are and new ones are not. */
  @ApiProperty({ required: false, type: Boolean, example: false })
  enforce?: boolean;
}

/** A number of the document that is kept as another one. */
export class ChangedNumber {
  /** Where it stands. */
  @ApiProperty({ example: 'spec.components.schemas.Invoice.properties.id.maximum' })
  path: string;

  /** What it is kept as. */
  @ApiProperty({
    example: '9223372036854775807 would be stored as 9223372036854776000: write it as a string, or with fewer digits',
  })
  message: string;
}

/** What an import did, by the names of the types. */
export class OpenApiImported {
  /** Made. */
  @ApiProperty({ type: [String], example: ['invoice.paid'] })
  created: string[];

  /** Changed. */
  @ApiProperty({ type: [String], example: [] })
  updated: string[];

  /** As they were. */
  @ApiProperty({ type: [String], example: [] })
  unchanged: string[];

  /** Archived, as the document does not have them. */
  @ApiProperty({ type: [String], example: [] })
  archived: string[];

  /** Numbers in webhooks and components that are kept as others, since no double holds them: the first 20. */
  @ApiProperty({ type: [ChangedNumber], example: [] })
  changed_numbers: ChangedNumber[];

  /** True when nothing was changed. */
  @ApiProperty({ example: false })
  dry_run: boolean;
}

/** `bodyText` is the whole body as it came: what its numbers were stands there alone. */
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
