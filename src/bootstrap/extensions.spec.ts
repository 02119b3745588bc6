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

/** A module that declares this, whatever types say. */
function declaring(declaration: object): typeof Module {
  class Declared {}
  Extension(declaration as ExtensionDeclaration)(Declared);
  return Declared;
}

describe('inOrder', () => {
  it('gives the tables and migrations of a module, and the module itself', () => {
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

  it('knows a module that declares nothing by its class', () => {
    expect(inOrder('./audit.js', Module)).toMatchObject({ name: 'Module', entities: [], migrations: [] });
  });

  it('does not take a declaration for that of a class derived from it', () => {
    class Derived extends declaring({ name: 'kafka', migrations: [Kafka1732500000000] }) {}

    expect(inOrder('./derived.js', Derived)).toMatchObject({ name: 'Derived', migrations: [] });
  });

  it('asks a module that has `for` what a process of a role gets', () => {
    class ByRole {
      static for = (role: string) => ({ module: ByRole, providers: role === 'api' ? [] : [Module] });
    }

    expect([inOrder('./x.js', ByRole).imported('api'), inOrder('./x.js', ByRole).imported('worker')]).toEqual([
      { module: ByRole, providers: [] },
      { module: ByRole, providers: [Module] },
    ]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no licence');
      },
      "whose ByRole.for('api') failed: no licence",
    ],
    ['gives nothing', () => undefined, "whose ByRole.for('api') gives no dynamic module: `{ module: ByRole, … }`."],
    ['gives a class', () => Module, "whose ByRole.for('api') gives no dynamic module"],
  ])('refuses a `for` that %s in one line that names the extension', (_what, make, fault) => {
    class ByRole {
      static for = make as () => never;
    }

    expect(() => inOrder('./x.js', ByRole).imported('api')).toThrow(`EXTENSIONS names ./x.js, ${fault}`);
  });

  it.each([
    ['no name', {}, 'name is 1 to 30 lower-case letters'],
    ['a name with a dash', { name: 'my-kafka' }, 'name is 1 to 30 lower-case letters'],
    ['a name in capitals', { name: 'Kafka' }, 'name is 1 to 30 lower-case letters'],
    ['something unknown', { name: 'kafka', tables: [] }, 'tables is not known'],
    ['entities of no list', { name: 'kafka', entities: TopicEntity }, 'entities is a list of classes'],
    ['a glob for entities', { name: 'kafka', entities: ['dist/*.entity.js'] }, 'entities is a list of classes'],
    ['migrations of no list', { name: 'kafka', migrations: {} }, 'migrations is a list of classes'],
    ['a function for a migration', { name: 'kafka', migrations: [() => 1] }, 'migrations is a list of classes'],
    [
      'a class that is no entity',
      { name: 'kafka', entities: [NoEntity] },
      "NoEntity is no entity: it needs @Entity('kafka_…')",
    ],
    [
      'a table without the prefix',
      { name: 'kafka', entities: [UnprefixedEntity] },
      'the table topics of UnprefixedEntity must begin with kafka_',
    ],
    [
      'a migration without the prefix',
      { name: 'kafka', migrations: [Topics1732500000000] },
      'the migration Topics1732500000000 must be called like KafkaTables1732500000000',
    ],
    [
      'a migration without a time',
      { name: 'kafka', migrations: [KafkaTopics] },
      'the migration KafkaTopics must be called like KafkaTables1732500000000',
    ],
  ])('refuses %s in one line that names the extension', (_what, declaration, fault) => {
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

  it('loads files in the order in which they are named', async () => {
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
      'a package that is not there',
      () => '@acme/posthorn-nothing',
      /^EXTENSIONS names @acme\/posthorn-nothing, which cannot be loaded: /,
    ],
    ['a file that is not there', () => './nothing.js', /^EXTENSIONS names \.\/nothing\.js, which cannot be loaded: /],
    [
      'a file without a default export',
      () => written('named.mjs', 'export class Named {}'),
      /which has no Nest module as its default export: it exports no default\. /,
    ],
    [
      'a default export that is no class',
      () => written('arrow.mjs', 'export default () => 1;'),
      /which has no Nest module as its default export: its default export is no class\.$/,
    ],
    [
      'a class that is no module',
      () => written('plain.mjs', 'export default class Plain {}'),
      /default export: Plain carries neither @Extension nor an @Module that has something in it\.$/,
    ],
    [
      'a provider',
      () => written('provider.mjs', marked('__injectable__')),
      /default export: Marked is a provider\. Export the module that has it among its providers\.$/,
    ],
    [
      'a controller',
      () => written('controller.mjs', marked('__controller__')),
      /default export: Marked is a controller\. Export the module that has it among its controllers\.$/,
    ],
    [
      'a file that fails',
      () => written('fails.mjs', 'throw new Error("no licence")'),
      /fails\.mjs, which cannot be loaded: no licence$/,
    ],
  ])('refuses %s', async (_what, name, message) => {
    await expect(loadExtensions([name()])).rejects.toThrow(message);
  });

  it('refuses two extensions of one name, and one that is named twice', async () => {
    const [one, other] = ['one', 'other'].map((name) => written(`${name}.mjs`, moduleCalled('Same'))) as [
      string,
      string,
    ];

    await expect(loadExtensions([one, other])).rejects.toThrow(
      `EXTENSIONS names two extensions called Same: ${one} and ${other}. Remove one.`,
    );
    await expect(loadExtensions([one, one])).rejects.toThrow('two extensions called Same');
  });

  it('refuses a dependency of an extension that would load a second copy, by both names', async () => {
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
    // One that nothing names is loaded by nobody.
    write('node_modules/other/node_modules/rxjs/package.json', '{ "name": "rxjs" }');

    await expect(loadExtensions([path.join(place, 'index.js')])).rejects.toThrow(
      /deep\/index\.js, which cannot be loaded: its dependency @acme\/shared brings a second copy of typeorm \(\S+\)\. Name it under peerDependencies/,
    );
  });
});
