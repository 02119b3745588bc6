import { Module } from '@nestjs/common';
import { NamesModule } from '../names/names.module.js';
import { AttentionController } from './attention.controller.js';
import { AttentionList } from './attention.js';
import { AttentionStore } from './attention.store.js';
import { AttentionTools } from './attention.tools.js';

/** Reports all current problems in one call. It reads data of other contexts and stores nothing. */
@Module({
  imports: [NamesModule],
  controllers: [AttentionController],
  providers: [AttentionList, AttentionStore, AttentionTools],
})
export class AttentionModule {}
