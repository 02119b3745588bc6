import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import type { BufferJson } from '#engine/mail/attachment-bytes.js';
import { AllowUnknownFields } from '#http/unknown-fields.js';
import { CanBeOmitted, MatchesSchema } from '#http/validation.js';

/** Content of a file: base64, or the JSON of a Node.js Buffer. */
const FILE_BYTES = {
  oneOf: [
    { type: 'string' },
    {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['Buffer'], description: 'Always `Buffer`.', examples: ['Buffer'] },
        data: {
          type: 'array',
          items: { type: 'integer', minimum: 0, maximum: 255 },
          description: 'The bytes of the file.',
          examples: [[72, 101, 108, 108, 111]],
        },
      },
      required: ['type', 'data'],
      additionalProperties: false,
    },
  ],
};

/** An attachment of an email: either its bytes, or a URL to fetch them from. */
@AllowUnknownFields()
export class EmailAttachmentBody {
  /** File name of the attachment. Defaults to the last path segment of `url`. */
  @ApiProperty({ example: 'invoice.pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(255)
  filename?: string;

  /** Media type of the attachment. Defaults to the content type that the server of `url` returns. */
  @ApiProperty({ example: 'application/pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(255)
  content_type?: string;

  /** Alias of `content_type`. */
  @ApiProperty({ example: 'application/pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(255)
  contentType?: string;

  /**
   * Content of the file: base64 or base64url (RFC 4648), in which white space is ignored, or the JSON of a Node.js
   * `Buffer`.
   */
  @ApiProperty({ example: 'SGVsbG8=' })
  @CanBeOmitted()
  @MatchesSchema(FILE_BYTES)
  content?: string | BufferJson;

  /**
   * A public https URL from which to fetch the file, within ten seconds while the request is handled. Redirects are not
   * followed.
   */
  @ApiProperty({ example: 'https://example.com/invoice.pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  url?: string;

  /** Alias of `url`. */
  @ApiProperty({ example: 'https://example.com/invoice.pdf' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  path?: string;

  /**
   * Content-ID of the file, with or without angle brackets. `cid:` URLs in the HTML refer to it. The file is then shown
   * inline.
   */
  @ApiProperty({ example: 'logo' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(130)
  content_id?: string;

  /** Alias of `content_id`. */
  @ApiProperty({ example: 'logo' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(130)
  contentId?: string;
}
