import { ApiProperty } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsArray, IsNotEmpty, IsOptional, IsString, ValidateNested } from 'class-validator';
import { ContactEntity } from './contact.entity.js';

const trimmed = ({ value }: { value: unknown }): unknown => (typeof value === 'string' ? value.trim() : value);

export class AddressDto {
  @ApiProperty({ type: String, description: 'Postal code.', example: '10178' })
  @IsString()
  @IsNotEmpty()
  @Transform(trimmed)
  postal_code: string;
}

export class CreateContactDto {
  @ApiProperty({ type: String, description: 'Name of the contact.', example: 'Ada Lovelace' })
  @IsString()
  @IsNotEmpty()
  @Transform(trimmed)
  name: string;

  @ApiProperty({ type: String, required: false, description: 'Telephone number.', example: '+49 30 901820' })
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @Transform(trimmed)
  phone?: string;

  @ApiProperty({ type: AddressDto, required: false, description: 'Address, which is checked but not stored.' })
  @IsOptional()
  @ValidateNested()
  @Type(() => AddressDto)
  address?: AddressDto;
}

export class ImportContactsDto {
  @ApiProperty({ type: [CreateContactDto], description: 'Contacts to store: all of them or none.' })
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => CreateContactDto)
  contacts: CreateContactDto[];
}

export class ImportedContacts {
  @ApiProperty({ type: 'integer', description: 'Number of contacts after the import.', example: 2 })
  count: number;
}

export class ContactList {
  @ApiProperty({ type: [ContactEntity], description: 'Contacts, sorted by name.' })
  data: ContactEntity[];
}
