import { ApiProperty } from '@nestjs/swagger';
import { Column, Entity, type MigrationInterface, PrimaryGeneratedColumn, type QueryRunner } from 'typeorm';

@Entity('depot_parcels')
export class ParcelEntity {
  @ApiProperty({ type: String, format: 'uuid', description: 'Id of the parcel.' })
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @ApiProperty({ type: 'integer', description: 'Environment of the parcel.' })
  @Column('int', { name: 'environment_id' })
  environmentId: number;

  @ApiProperty({ type: String, format: 'uuid', description: 'Id of the order.' })
  @Column('uuid', { name: 'order_id' })
  orderId: string;

  @ApiProperty({ type: String, description: 'Email address of the recipient.' })
  @Column('text')
  recipient: string;
}

export class DepotParcels1732500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table depot_parcels (
        id uuid primary key default gen_random_uuid(),
        environment_id int not null,
        order_id uuid not null unique,
        recipient text not null
      )
    `);
    await runner.query(`
      create table depot_blobs (
        environment_id int not null,
        id text not null,
        bytes bytea not null,
        expires_on_day int not null,
        primary key (environment_id, id)
      )
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table depot_blobs');
    await runner.query('drop table depot_parcels');
  }
}
