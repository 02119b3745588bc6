import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

describe.each(['en', 'de'])('the texts in %s', (language) => {
  it("have unique keys, because one of two equal keys would hide the other's text", () => {
    const files = [
      `${language}.ts`,
      ...readdirSync(path.join(import.meta.dirname, language)).map((file) => path.join(language, file)),
    ];
    const names = files.flatMap((file) =>
      [...readFileSync(path.join(import.meta.dirname, file), 'utf8').matchAll(/^ {2}'([^']+)': /gm)].map(
        ([, name]) => name,
      ),
    );

    expect(names.length).toBeGreaterThan(500);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});
