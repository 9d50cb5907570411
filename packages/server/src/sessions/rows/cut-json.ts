/** The text of a field in the beginning of a JSON object; of a text that is cut off, its own beginning. */
export function textBehind(field: string, cut: string): string | undefined {
  const text = String.raw`((?:[^"\\]|\\[^u]|\\u[0-9a-f]{4})*)`
  const found = new RegExp(`"${field}":"${text}`, 'i').exec(cut)
  return found ? String(JSON.parse(`"${found[1]}"`)) : undefined
}
