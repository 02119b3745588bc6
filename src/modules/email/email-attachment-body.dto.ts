import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import type { BufferJson } from '#engine/mail/attachment-bytes.js';
import { AllowUnknownFields } from '#http/unknown-fields.js';
import { MatchesSchema } from '#http/validation.js';

const BYTE_LIST = {
  type: 'array',
  items: { type: 'integer', minimum: 0, maximum: 255 },
  description: 'The bytes of the file.',
  examples: [[72, 101, 108, 108, 111]],
};

/** OpenAPI schema of a file's content: base64, a list of bytes, or the JSON of a Node.js Buffer. */
const FILE_BYTES = {
  oneOf: [
    { type: 'string' },
    BYTE_LIST,
    {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['Buffer'], description: 'Always `Buffer`.', examples: ['Buffer'] },
        data: BYTE_LIST,
      },
      required: ['type', 'data'],
      additionalProperties: false,
    },
  ],
};

/** An attachment of an email: either its bytes, or a URL to fetch them from. */
@AllowUnknownFields()
export class EmailAttachmentBody {
  /**
   * File name of the attachment. If omitted or `false`, defaults to the last path segment of `url`, and otherwise to
   * `attachment` (`inline` with a `content_id`) with the extension of `content_type`.
   */
  @ApiProperty({ example: 'invoice.pdf' })
  @IsOptional()
  @MatchesSchema({
    oneOf: [
      { type: 'string', maxLength: 255 },
      { type: 'boolean', enum: [false] },
    ],
  })
  filename?: string | false | null;

  /**
   * Media type of the attachment. By default, it is derived from the extension of `filename`. If the extension is
   * unknown, defaults to the content type that the server of `url` returns, or to `application/octet-stream`.
   */
  @ApiProperty({ example: 'application/pdf' })
  @IsOptional()
  @IsString()
  @MaxLength(255)
  content_type?: string | null;

  /** Alias of `content_type`. */
  @ApiProperty({ example: 'application/pdf' })
  @IsOptional()
  @IsString()
  @MaxLength(255)
  contentType?: string | null;

  /**
   * Content of the file: base64 or base64url (RFC 4648), a list of bytes as numbers, or the JSON of a Node.js `Buffer`.
   * White space in base64 is ignored.
   */
  @ApiProperty({ example: 'SGVsbG8=' })
  @IsOptional()
  @MatchesSchema(FILE_BYTES)
  content?: string | number[] | BufferJson | null;

  /**
   * Public https URL of the file. Posthorn fetches the file while it handles the request, within ten seconds. Redirects
   * are not followed.
   */
  @ApiProperty({ example: 'https://example.com/invoice.pdf' })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  url?: string | null;

  /** Alias of `url`. */
  @ApiProperty({ example: 'https://example.com/invoice.pdf' })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  path?: string | null;

  /**
   * Content-ID of the file, with or without angle brackets. The HTML can refer to it with a `cid:` URL. The file is
   * then inline, except for plain text, HTML and messages, which mail clients would add to the displayed text.
   */
  @ApiProperty({ example: 'logo' })
  @IsOptional()
  @IsString()
  @MaxLength(130)
  content_id?: string | null;

  /** Alias of `content_id`. */
  @ApiProperty({ example: 'logo' })
  @IsOptional()
  @IsString()
  @MaxLength(130)
  contentId?: string | null;

  /** Alias of `content_id`. */
  @ApiProperty({ example: 'logo' })
  @IsOptional()
  @IsString()
  @MaxLength(130)
  inline_content_id?: string | null;

  /** Alias of `content_id`. */
  @ApiProperty({ example: 'logo' })
  @IsOptional()
  @IsString()
  @MaxLength(130)
  inlineContentId?: string | null;
}
