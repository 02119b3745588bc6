import {
  Body,
  ClassSerializerInterceptor,
  Controller,
  Get,
  HttpCode,
  Param,
  ParseUUIDPipe,
  Post,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Audit, CurrentTenant, Idempotent, Scope, Section, type Tenant } from 'posthorn';
import { ContactEntity } from './contact.entity.js';
import { ContactList, CreateContactDto, ImportContactsDto, ImportedContacts } from './contacts.dto.js';
import { DuplicateFilter } from './contacts.filter.js';
import { ReadOnlyGuard } from './contacts.guard.js';
import { ContactsService } from './contacts.service.js';
import { ListInterceptor } from './list.interceptor.js';

@Section('Contacts', 'Contacts of the environment.')
@Controller('v1/contacts')
@UseGuards(ReadOnlyGuard)
@UseInterceptors(ClassSerializerInterceptor)
@UsePipes(new ValidationPipe({ transform: true }))
@UseFilters(DuplicateFilter)
export class ContactsController {
  constructor(private readonly contacts: ContactsService) {}

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({ summary: 'Create a contact', description: 'Stores a contact.' })
  @ApiCreatedResponse({ type: ContactEntity, description: 'The contact.' })
  createContact(@CurrentTenant() tenant: Tenant, @Body() contact: CreateContactDto): Promise<ContactEntity> {
    return this.contacts.create(tenant, contact);
  }

  @Post('import')
  @Audit()
  @Scope('write')
  @HttpCode(200)
  @ApiOperation({ summary: 'Import contacts', description: 'Stores all contacts of a list, or none of them.' })
  @ApiOkResponse({ type: ImportedContacts, description: 'Number of contacts.' })
  async importContacts(
    @CurrentTenant() tenant: Tenant,
    @Body() { contacts }: ImportContactsDto,
  ): Promise<ImportedContacts> {
    return { count: await this.contacts.import(tenant, contacts) };
  }

  @Get()
  @Scope('read')
  @UseInterceptors(ListInterceptor)
  @ApiOperation({ summary: 'List contacts', description: 'Lists up to 100 contacts by name.' })
  @ApiOkResponse({ type: ContactList, description: 'The contacts.' })
  listContacts(@CurrentTenant() tenant: Tenant): Promise<ContactEntity[]> {
    return this.contacts.list(tenant);
  }

  @Get(':id')
  @Scope('read')
  @ApiOperation({ summary: 'Read a contact', description: 'Returns one contact.' })
  @ApiParam({ name: 'id', description: 'Id of the contact.', example: '7b1f9f0e-6f5b-4c57-9d2e-0d6d2f0c3f10' })
  @ApiOkResponse({ type: ContactEntity, description: 'The contact.' })
  readContact(@CurrentTenant() tenant: Tenant, @Param('id', ParseUUIDPipe) id: string): Promise<ContactEntity> {
    return this.contacts.find(tenant, id);
  }
}
