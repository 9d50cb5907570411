/** Parses a text as a JSON object. Throws for other JSON, and for a text that is no JSON. */
export function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  if (!isObject(value)) throw new SyntaxError('the JSON is not an object')
  return value
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
