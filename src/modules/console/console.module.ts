import { Module } from '@nestjs/common';
import { ConsolePages } from './console-pages.js';
import { PortalPages } from './portal-pages.js';

/** The console and the customer portal. These user interfaces use only the public API. */
@Module({ providers: [ConsolePages, PortalPages] })
export class ConsoleModule {}
