import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsObject, IsOptional, IsString, Length } from 'class-validator';
import { AllowUnknownFields } from '#http/unknown-fields.js';
import { showId } from '#kernel/ids.js';
import type { EmailEntity } from './email.entities.js';

/** The template that provides the content of an email. */
@AllowUnknownFields()
export class EmailTemplateBody {
  /** Id or alias of a published template. */
  @ApiProperty({ example: 'order-confirmation' })
  @IsString()
  @Length(1, 100)
  id: string;

  /** Values of the template's variables, at most 256 KB as JSON. */
  @ApiProperty({ example: { first_name: 'Ada', order: 4711 } })
  @IsOptional()
  @IsObject()
  variables?: Record<string, unknown> | null;
}

/** The template from which an email was rendered. */
export class EmailTemplateItem {
  /** Id of the template. The template may have been deleted since. */
  @ApiProperty({ example: 'tpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Version of the template from which the email was rendered. */
  @ApiProperty({ example: 1 })
  @IsInt()
  version: number;
}

export function presentTemplate({
  templateId,
  templateVersion,
}: Pick<EmailEntity, 'templateId' | 'templateVersion'>): EmailTemplateItem | null {
  return templateId === null || templateVersion === null
    ? null
    : { id: showId('tpl', templateId), version: templateVersion };
}
