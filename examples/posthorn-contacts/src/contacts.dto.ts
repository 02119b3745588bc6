import { ApiProperty } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsNotEmpty, IsOptional, IsPhoneNumber, IsPostalCode, IsString, ValidateNested } from 'class-validator';
import { ContactEntity } from './contact.entity.js';

export class AddressDto {
  @ApiProperty({ type: String, description: 'Postal code.', example: '10178' })
  @IsPostalCode('DE')
  postal_code: string;
}

export class CreateContactDto {
  @ApiProperty({ type: String, description: 'Name of the contact.', example: 'Ada Lovelace' })
  @IsString()
  @IsNotEmpty()
  @Transform(({ value }: { value: unknown }): unknown => (typeof value === 'string' ? value.trim() : value))
  name: string;

  @ApiProperty({ type: String, required: false, description: 'Telephone number.', example: '+49 30 901820' })
  @IsOptional()
  @IsPhoneNumber()
  phone?: string;

  @ApiProperty({ type: AddressDto, required: false, description: 'Address, which is checked but not stored.' })
  @IsOptional()
  @ValidateNested()
  @Type(() => AddressDto)
  address?: AddressDto;
}

export class ImportContactsDto {
  @ApiProperty({ type: [CreateContactDto], description: 'Contacts to store: all of them or none.' })
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
