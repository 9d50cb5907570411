/** Calls to a server that a test runs as a process. */
import assert from 'node:assert/strict'

export const headers = { 'x-api-key': 'key', 'content-type': 'application/json' }

/** The answer, which must be good; the caller says which shape it has. */
export async function call<T>(
  { base }: { base: string },
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(base + path, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  assert.ok(response.ok, `${method} ${path}: ${response.status}`)
  const text = await response.text()
  return (text ? JSON.parse(text) : undefined) as T
}
