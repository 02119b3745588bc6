import { Module } from '@nestjs/common';
import { TopicsModule } from '../topics/topics.module.js';
import { PublishedTemplates } from './published-templates.js';
import { TemplateKeeper } from './template-keeper.js';
import { TemplatesController } from './templates.controller.js';
import { TemplatesService } from './templates.service.js';
import { TemplatesStore } from './templates.store.js';

/** Email templates and their versions. */
@Module({
  imports: [TopicsModule],
  controllers: [TemplatesController],
  providers: [PublishedTemplates, TemplateKeeper, TemplatesService, TemplatesStore],
  exports: [PublishedTemplates],
})
export class TemplatesModule {}
