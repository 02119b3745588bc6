import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { BodyLimit } from '#http/body-limit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import { RateLimit } from '#http/rate-limit.js';
import { ResendErrors } from '#http/resend-errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { TemplateKeeper } from './template-keeper.js';
import { templateKey } from './template-key.js';
import {
  contentChanges,
  labelChanges,
  newContent,
  NewTemplateBody,
  presentPage,
  presentRendered,
  presentTemplate,
  presentVersion,
  presentVersions,
  TemplateChangesBody,
  TemplateDetail,
  templateLabels,
  TemplateListQuery,
  TemplatePage,
  TemplateRenderBody,
  TemplateRendered,
  TemplateRestoreBody,
  TemplateVersionDetail,
  TemplateVersionPage,
  versionNumber,
} from './templates.dto.js';
import { TemplatesService } from './templates.service.js';

const ID = {
  name: 'id',
  description: 'Id or alias of the template.',
  example: 'tpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};
const VERSION = { name: 'version', description: 'Number of the version.', example: '1' };
const ALIAS_TAKEN = { description: 'Another template has the alias.' };
/** Maximum size of a request body with an HTML body and a text body of 512 KB each, including JSON escapes. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** API for email templates. */
@Section(
  'Templates',
  'Stored contents of emails with variables, in versions. Emails use the published version, by the id or the alias of the template.',
)
@ResendErrors()
@Controller('v1/templates')
export class TemplatesController {
  constructor(
    private readonly templates: TemplatesService,
    private readonly keeper: TemplateKeeper,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'List templates', description: 'Returns the templates without content, newest first.' })
  @ApiOkResponse({ type: TemplatePage, description: 'One page of templates.' })
  async listTemplates(@CurrentTenant() tenant: Tenant, @Query() query: TemplateListQuery): Promise<TemplatePage> {
    return presentPage(await this.templates.list(tenant, query));
  }

  @Post()
  @Audit()
  @Scope('write')
  @BodyLimit(BODY_BYTES_MAX)
  @Idempotent()
  @ApiOperation({
    summary: 'Create a template',
    description: 'Emails can use the template after it is published. An environment has at most 1,000 templates.',
  })
  @ApiCreatedResponse({ type: TemplateDetail, description: 'The template, in version 1.' })
  @ApiConflictResponse(ALIAS_TAKEN)
  async createTemplate(@CurrentTenant() tenant: Tenant, @Body() body: NewTemplateBody): Promise<TemplateDetail> {
    return presentTemplate(await this.keeper.create(tenant, templateLabels(body), newContent(body)));
  }

  @Get(':id')
  @Scope('read')
  @ApiOperation({
    summary: 'Get a template',
    description: 'Returns the template with the content of its latest version.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: TemplateDetail, description: 'The template.' })
  async getTemplate(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<TemplateDetail> {
    return presentTemplate(await this.templates.find(tenant, templateKey(id)));
  }

  @Patch(':id')
  @Audit()
  @Scope('write')
  @BodyLimit(BODY_BYTES_MAX)
  @ApiOperation({
    summary: 'Change a template',
    description:
      'Changed content creates a new version. Emails use it after it is published. The newest 100 versions and the published one are kept.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: TemplateDetail, description: 'The changed template.' })
  @ApiConflictResponse(ALIAS_TAKEN)
  async updateTemplate(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: TemplateChangesBody,
  ): Promise<TemplateDetail> {
    return presentTemplate(await this.keeper.change(tenant, templateKey(id), labelChanges(body), contentChanges(body)));
  }

  @Delete(':id')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a template',
    description: 'Deletes the template with all its versions. Emails that were already accepted keep their content.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The template was deleted.' })
  async deleteTemplate(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.keeper.remove(tenant, templateKey(id));
  }

  @Post(':id/publish')
  @Audit()
  @Scope('write')
  @HttpCode(200)
  @Idempotent()
  @ApiOperation({
    summary: 'Publish a template',
    description: 'From now on, emails use the latest version. It needs `html`, `text`, or both.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: TemplateDetail, description: 'The published template.' })
  async publishTemplate(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<TemplateDetail> {
    return presentTemplate(await this.keeper.publish(tenant, templateKey(id)));
  }

  @Post(':id/duplicate')
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Duplicate a template',
    description: 'Creates an unpublished template with the content of the latest version, without the alias.',
  })
  @ApiParam(ID)
  @ApiCreatedResponse({ type: TemplateDetail, description: 'The new template.' })
  async duplicateTemplate(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<TemplateDetail> {
    return presentTemplate(await this.keeper.duplicate(tenant, templateKey(id)));
  }

  @Post(':id/render')
  @Audit('never')
  @RateLimit({ name: 'render', count: 300, seconds: 60 })
  @Scope('read')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Render a template',
    description:
      'Fills in variables without sending an email. Tags of missing variables stay in the result, and `missing_variables` lists them.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: TemplateRendered, description: 'The rendered content.' })
  async renderTemplate(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() { variables, version }: TemplateRenderBody,
  ): Promise<TemplateRendered> {
    return presentRendered(await this.templates.render(tenant, templateKey(id), variables ?? {}, version));
  }

  @Get(':id/versions')
  @Scope('read')
  @ApiOperation({
    summary: 'List the versions of a template',
    description: 'Returns the versions without their bodies, newest first.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: TemplateVersionPage, description: 'One page of versions.' })
  async listTemplateVersions(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Query() query: TemplateListQuery,
  ): Promise<TemplateVersionPage> {
    return presentVersions(await this.templates.versions(tenant, templateKey(id), query));
  }

  @Get(':id/versions/:version')
  @Scope('read')
  @ApiOperation({ summary: 'Get a version of a template', description: 'Returns the version with its content.' })
  @ApiParam(ID)
  @ApiParam(VERSION)
  @ApiOkResponse({ type: TemplateVersionDetail, description: 'The version.' })
  async getTemplateVersion(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Param('version') version: string,
  ): Promise<TemplateVersionDetail> {
    return presentVersion(await this.templates.find(tenant, templateKey(id), versionNumber(version)));
  }

  @Post(':id/restore')
  @Audit()
  @Scope('write')
  @HttpCode(200)
  @Idempotent()
  @ApiOperation({
    summary: 'Restore a version of a template',
    description: 'Copies the version into a new latest version. Emails use it after it is published.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: TemplateDetail, description: 'The template with the restored content.' })
  async restoreTemplate(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() { version }: TemplateRestoreBody,
  ): Promise<TemplateDetail> {
    return presentTemplate(await this.keeper.restore(tenant, templateKey(id), version));
  }
}
