import { Module } from '@nestjs/common';
import { ConsolePages } from './console-pages.js';
import { PortalPages } from './portal-pages.js';

/** The console and the customers' portal: what people see of the service, which know no more of it than its API tells. */
@Module({ providers: [ConsolePages, PortalPages] })
export class ConsoleModule {}
