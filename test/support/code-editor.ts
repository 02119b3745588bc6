import type { Locator, Page } from 'playwright-core';

/** Returns the console's code editor with this label. Waits, unlike `getByLabel`, until the editor is loaded. */
export function codeEditor(page: Page, label: string | RegExp): Locator {
  return page.locator('.cm-content').and(page.getByLabel(label));
}

/** Returns the text of an editor. The editor renders only the lines near its visible part, so the text must be short. */
export async function codeOf(editor: Locator): Promise<string> {
  await editor.waitFor();
  return (await editor.locator('.cm-line').allTextContents()).join('\n');
}

/** Pastes a text into an editor in place of its content. Unlike typing, this keeps every character and adds none. */
export async function pasteCode(editor: Locator, text: string): Promise<void> {
  await editor.press('Control+a');
  await editor.evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', pasted);
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}
