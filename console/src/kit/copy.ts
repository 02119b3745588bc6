/** Copies text and returns whether that succeeded. Also works over plain http, where browsers have no clipboard API. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'offscreen';
  const focused = document.activeElement;
  // Copies the original text and not the content of the text field, because a text field changes line breaks.
  const give = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener('copy', give, true);
  // Appends the field to an open dialog, because an open dialog takes the focus from elements outside of the dialog.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  document.removeEventListener('copy', give, true);
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

/** Downloads bytes as a file. */
export function download(bytes: Uint8Array<ArrayBuffer> | Blob, name: string, contentType: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: contentType }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
