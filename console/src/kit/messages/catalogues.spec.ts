import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

describe.each(['en', 'de'])('the texts in %s', (language) => {
  it("have a name each: of two with one name a screen would show the other's", () => {
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
