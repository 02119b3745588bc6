import { Injectable } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsDateString,
  IsEmail,
  IsIn,
  IsMobilePhone,
  IsOptional,
  IsPositive,
  IsPostalCode,
  IsString,
  IsUUID,
  Length,
  Validate,
  ValidateIf,
  ValidateNested,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { Lockers } from './lockers.js';
import { ParcelEntity } from './parcel.entity.js';

@Injectable()
@ValidatorConstraint({ name: 'lockerExists', async: true })
export class LockerExists implements ValidatorConstraintInterface {
  constructor(private readonly lockers: Lockers) {}

  validate(locker: unknown): Promise<boolean> {
    return this.lockers.has(locker);
  }

  defaultMessage(): string {
    return '$property must be the name of a locker';
  }
}

export class ItemDto {
  @IsString()
  @Length(1, 20)
  title: string;

  @IsPositive()
  price: number;

  @IsOptional()
  @IsMobilePhone('de-DE')
  support?: string;
}

export class CreateParcelDto {
  @IsUUID()
  order_id: string;

  @IsEmail({}, { message: 'Enter an email address.' })
  recipient: string;

  @IsDateString()
  pickup: string;

  @IsPositive()
  weight: number;

  @IsIn(['home', 'locker'])
  delivery: 'home' | 'locker';

  @ValidateIf(({ delivery }: CreateParcelDto) => delivery === 'home')
  @IsPostalCode('DE')
  postal_code?: string;

  @ValidateIf(({ delivery }: CreateParcelDto) => delivery === 'locker')
  @Validate(LockerExists)
  locker?: string;

  @IsOptional()
  @ArrayMaxSize(20)
  @ValidateNested({ each: true })
  @Type(() => ItemDto)
  items?: ItemDto[];
}

export class ParcelQuery {
  @IsOptional()
  @IsEmail()
  recipient?: string;
}

export class NoticeDto {
  @IsString()
  @Length(1, 256)
  destination: string;
}

export class Notice {
  @ApiProperty({ type: String, description: 'Id of the message.' })
  message_id: string;
}

export class ParcelList {
  @ApiProperty({ type: [ParcelEntity], description: 'Parcels, by their order.' })
  data: ParcelEntity[];
}
