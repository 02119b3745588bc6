import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Extension } from 'posthorn';
import { ContactEntity } from './contact.entity.js';
import { ContactsController } from './contacts.controller.js';
import { ContactsPeople1732500000000 } from './contacts.migration.js';
import { ContactsService } from './contacts.service.js';

/** Adds routes that keep contacts per environment. */
@Extension({ name: 'contacts', entities: [ContactEntity], migrations: [ContactsPeople1732500000000] })
@Module({
  imports: [TypeOrmModule.forFeature([ContactEntity])],
  controllers: [ContactsController],
  providers: [ContactsService],
})
export default class ContactsModule {}
