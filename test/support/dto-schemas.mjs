// Builds the OpenAPI schemas of DTO classes. `node dto-schemas.mjs FOLDER` prints the schemas of a build as JSON.
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { describeValidatedClasses } from '#http/validation-schemas.js';

class EmptyModule {}
Module({})(EmptyModule);

/** Returns the component schemas of each DTO file below `folder`, by the file's path without its ending. */
export async function dtoSchemas(folder) {
  const app = await NestFactory.create(EmptyModule, new FastifyAdapter(), { logger: ['error'] });
  const schemas = {};
  for (const file of readdirSync(folder, { recursive: true }).sort()) {
    if (!/\.dto\.(ts|js)$/.test(file)) continue;
    const exported = await import(pathToFileURL(path.join(folder, file)).href);
    describeValidatedClasses();
    const document = SwaggerModule.createDocument(app, new DocumentBuilder().setOpenAPIVersion('3.1.0').build(), {
      extraModels: Object.values(exported).filter(isClass),
    });
    schemas[file.replaceAll('\\', '/').replace(/\.(ts|js)$/, '')] = document.components?.schemas ?? {};
  }
  await app.close();
  return schemas;
}

const isClass = (value) => typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));

if (process.argv[1] === import.meta.filename)
  console.log(JSON.stringify(await dtoSchemas(path.resolve(process.argv[2]))));
