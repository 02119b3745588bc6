import 'reflect-metadata';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Entity, PrimaryColumn } from 'typeorm';
import { Extension, type ExtensionDeclaration } from '../extension/declaration.js';
import { inOrder, loadExtensions } from './extensions.js';

@Entity('kafka_topics')
class TopicEntity {
  @PrimaryColumn('text')
  name: string;
}

@Entity('topics')
class UnprefixedEntity {
  @PrimaryColumn('text')
  name: string;
}

class NoEntity {}
class KafkaTopics1732500000000 {}
class Kafka1732500000000 {}
class Topics1732500000000 {}
class KafkaTopics {}
class Module {}

function declaring(declaration: object): typeof Module {
  class Declared {}
  Extension(declaration as ExtensionDeclaration)(Declared);
  return Declared;
}

describe('inOrder', () => {
  it('returns the tables and migrations of a module, and the module itself', () => {
    const declared = declaring({
      name: 'kafka',
      entities: [TopicEntity],
      migrations: [Kafka1732500000000, KafkaTopics1732500000000],
    });

    const { imported, ...extension } = inOrder('posthorn-kafka', declared);

    expect(extension).toEqual({
      specifier: 'posthorn-kafka',
      directory: null,
      name: 'kafka',
      entities: [TopicEntity],
      migrations: [Kafka1732500000000, KafkaTopics1732500000000],
    });
    expect(imported('all')).toBe(declared);
  });

  it('identifies a module without a declaration by its class', () => {
    expect(inOrder('./audit.js', Module)).toMatchObject({ name: 'Module', entities: [], migrations: [] });
  });

  it('does not inherit the declaration of a base class', () => {
    class Derived extends declaring({ name: 'kafka', migrations: [Kafka1732500000000] }) {}

    expect(inOrder('./derived.js', Derived)).toMatchObject({ name: 'Derived', migrations: [] });
  });

  it.each(['register', 'forRoot'])('asks a module with `%s` for the module of a role', (factory) => {
    class ByRole {}
    Object.assign(ByRole, {
      [factory]: (role: string) => ({ module: ByRole, providers: role === 'api' ? [] : [Module] }),
    });

    expect([inOrder('./x.js', ByRole).imported('api'), inOrder('./x.js', ByRole).imported('worker')]).toEqual([
      { module: ByRole, providers: [] },
      { module: ByRole, providers: [Module] },
    ]);
  });

  it('returns a dynamic module that is exported itself, with the declaration of its class', () => {
    const module = declaring({ name: 'kafka', entities: [TopicEntity] });
    const dynamic = { module, providers: [Module] };

    const { name, entities, imported } = inOrder('./x.js', dynamic);

    expect([name, entities, imported('all')]).toEqual(['kafka', [TopicEntity], dynamic]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no licence');
      },
      "whose ByRole.register('api') failed: no licence",
    ],
    [
      'gives nothing',
      () => undefined,
      "whose ByRole.register('api') does not return a dynamic module: `{ module: ByRole, … }`.",
    ],
    ['gives a class', () => Module, "whose ByRole.register('api') does not return a dynamic module"],
  ])('rejects a `register` that %s, in one line that names the extension', (_what, make, fault) => {
    class ByRole {
      static register = make as () => never;
    }

    expect(() => inOrder('./x.js', ByRole).imported('api')).toThrow(`EXTENSIONS names ./x.js, ${fault}`);
  });

  it.each([
    ['no name', {}, 'name must be 1 to 30 lower-case letters'],
    ['a name with a dash', { name: 'my-kafka' }, 'name must be 1 to 30 lower-case letters'],
    ['a name in capitals', { name: 'Kafka' }, 'name must be 1 to 30 lower-case letters'],
    ['something unknown', { name: 'kafka', tables: [] }, 'tables is not a known property'],
    ['entities that are not a list', { name: 'kafka', entities: TopicEntity }, 'entities must be a list of classes'],
    ['a glob for entities', { name: 'kafka', entities: ['dist/*.entity.js'] }, 'entities must be a list of classes'],
    ['migrations that are not a list', { name: 'kafka', migrations: {} }, 'migrations must be a list of classes'],
    ['a function for a migration', { name: 'kafka', migrations: [() => 1] }, 'migrations must be a list of classes'],
    [
      'a class that is not an entity',
      { name: 'kafka', entities: [NoEntity] },
      "NoEntity is not an entity: it needs @Entity('kafka_…')",
    ],
    [
      'a table without the prefix',
      { name: 'kafka', entities: [UnprefixedEntity] },
      'the name of table topics of UnprefixedEntity must begin with kafka_',
    ],
    [
      'a migration without the prefix',
      { name: 'kafka', migrations: [Topics1732500000000] },
      'the migration Topics1732500000000 must have a name like KafkaTables1732500000000',
    ],
    [
      'a migration without a timestamp',
      { name: 'kafka', migrations: [KafkaTopics] },
      'the migration KafkaTopics must have a name like KafkaTables1732500000000',
    ],
  ])('rejects %s in one line that names the extension', (_what, declaration, fault) => {
    const check = (): unknown => inOrder('@acme/posthorn-kafka', declaring(declaration));

    expect(check).toThrow(`EXTENSIONS names @acme/posthorn-kafka, whose @Extension is wrong: ${fault}`);
    expect(check).toThrow(/^[^\n]+\.$/);
  });
});

describe('loadExtensions', () => {
  let folder: string;

  beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'posthorn-extensions-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const written = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  const marked = (key: string): string =>
    `export default class Marked {}\nReflect.defineMetadata('${key}', true, Marked);`;
  const moduleCalled = (name: string): string =>
    `export default class ${name} {}\nReflect.defineMetadata('providers', [], ${name});`;

  it('loads files in the given order', async () => {
    const files = ['b', 'a'].map((name) => written(`${name}.mjs`, moduleCalled(name.toUpperCase())));

    const loaded = await loadExtensions(files);

    expect(loaded.map(({ name, specifier }) => [name, specifier])).toEqual([
      ['B', files[0]],
      ['A', files[1]],
    ]);
    expect(loaded[0]?.directory).toBe(`${realpathSync(folder)}/`);
  });

  it.each([
    [
      'a package that does not exist',
      () => '@acme/posthorn-nothing',
      /^EXTENSIONS names @acme\/posthorn-nothing, which cannot be loaded: /,
    ],
    ['a file that does not exist', () => './nothing.js', /^EXTENSIONS names \.\/nothing\.js, which cannot be loaded: /],
    [
      'a file without a default export',
      () => written('named.mjs', 'export class Named {}'),
      /which has no Nest module as its default export: it exports no default\. /,
    ],
    [
      'a default export that is neither a class nor a dynamic module',
      () => written('arrow.mjs', 'export default () => 1;'),
      /which has no Nest module as its default export: its default export is neither a class nor a dynamic module\.$/,
    ],
    [
      'a class that is not a module',
      () => written('plain.mjs', 'export default class Plain {}'),
      /default export: Plain carries neither @Extension nor a non-empty @Module\.$/,
    ],
    [
      'a provider',
      () => written('provider.mjs', marked('__injectable__')),
      /default export: Marked is a provider\. Export the module that lists it under providers\.$/,
    ],
    [
      'a controller',
      () => written('controller.mjs', marked('__controller__')),
      /default export: Marked is a controller\. Export the module that lists it under controllers\.$/,
    ],
    [
      'a file that throws',
      () => written('fails.mjs', 'throw new Error("no licence")'),
      /fails\.mjs, which cannot be loaded: no licence$/,
    ],
  ])('refuses %s', async (_what, name, message) => {
    await expect(loadExtensions([name()])).rejects.toThrow(message);
  });

  it('rejects two extensions with the same name, and one that is listed twice', async () => {
    const [one, other] = ['one', 'other'].map((name) => written(`${name}.mjs`, moduleCalled('Same'))) as [
      string,
      string,
    ];

    await expect(loadExtensions([one, other])).rejects.toThrow(
      `EXTENSIONS names two extensions called Same: ${one} and ${other}. Remove one.`,
    );
    await expect(loadExtensions([one, one])).rejects.toThrow('two extensions called Same');
  });

  it('rejects a dependency of an extension that would load a second copy, and names both', async () => {
    const place = path.join(folder, 'deep');
    const write = (file: string, text: string): void => {
      mkdirSync(path.dirname(path.join(place, file)), { recursive: true });
      writeFileSync(path.join(place, file), text);
    };
    write('package.json', '{ "name": "deep", "type": "module", "dependencies": { "@acme/shared": "1" } }');
    write('index.js', moduleCalled('Deep'));
    write(
      'node_modules/@acme/shared/package.json',
      '{ "name": "@acme/shared", "peerDependencies": { "typeorm": "1" } }',
    );
    write('node_modules/@acme/shared/node_modules/typeorm/package.json', '{ "name": "typeorm" }');
    // Nothing depends on the package `other`, so its copy of rxjs is never loaded.
    write('node_modules/other/node_modules/rxjs/package.json', '{ "name": "rxjs" }');

    await expect(loadExtensions([path.join(place, 'index.js')])).rejects.toThrow(
      /deep\/index\.js, which cannot be loaded: its dependency @acme\/shared brings a second copy of typeorm \(\S+\)\. Name it under peerDependencies/,
    );
  });
});
