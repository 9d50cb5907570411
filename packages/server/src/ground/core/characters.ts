/** Characters of the texts in a value, which may be many megabytes: known before the value is written as text. */
export function countCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, each) => sum + countCharacters(each), 0)
}
