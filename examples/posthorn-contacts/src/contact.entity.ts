import { ApiProperty } from '@nestjs/swagger';
import { Exclude } from 'class-transformer';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('contacts_people')
export class ContactEntity {
  @ApiProperty({ type: String, format: 'uuid', description: 'Id of the contact.' })
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Exclude()
  @Column('int', { name: 'environment_id' })
  environmentId: number;

  @ApiProperty({ type: String, description: 'Name of the contact.', example: 'Ada Lovelace' })
  @Column('text')
  name: string;

  @ApiProperty({ type: String, nullable: true, description: 'Telephone number.', example: '+49 30 901820' })
  @Column('text', { nullable: true })
  phone: string | null;
}
