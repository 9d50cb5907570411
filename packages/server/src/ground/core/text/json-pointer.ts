/** A name as a JSON pointer writes it. */
export const pointerName = (name: string): string =>
  name.replaceAll('~', '~0').replaceAll('/', '~1')
