/** Quotes any text without NUL as one word for a shell. */
export const quoteWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
