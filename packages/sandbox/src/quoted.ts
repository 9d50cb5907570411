/** One word for a shell, whatever it holds; without NUL. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
