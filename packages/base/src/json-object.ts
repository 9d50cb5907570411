/** The fields of the JSON object in a text. Throws for a text that is no JSON, or JSON of another kind. */
export function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  if (!isObject(value)) throw new SyntaxError('the JSON is not an object')
  return value
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
