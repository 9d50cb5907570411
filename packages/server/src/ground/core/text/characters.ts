/** Counts the characters of all texts in a value. Bounds a value of many megabytes before it becomes JSON text. */
export function countCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, each) => sum + countCharacters(each), 0)
}
