import { StyleModule } from 'style-mod';

const sheets = new WeakMap<StyleModule, CSSStyleSheet>();

/**
 * Makes CodeMirror add its styles as constructed style sheets. By default, its library style-mod inserts a `<style>`
 * element, which the content security policy of the console forbids.
 */
export function mountStylesAsSheets(): void {
  StyleModule.mount = (root, modules) => {
    const mounted = [modules].flat().map(sheetOf);
    const others = root.adoptedStyleSheets.filter((sheet) => !mounted.includes(sheet));
    root.adoptedStyleSheets = [...others, ...mounted];
  };
}

function sheetOf(module: StyleModule): CSSStyleSheet {
  const known = sheets.get(module);
  if (known !== undefined) return known;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(module.getRules());
  sheets.set(module, sheet);
  return sheet;
}
