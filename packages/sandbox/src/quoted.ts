/** Quotes any text without NUL as one word for a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
