/** Skill uploads, also in forms that the official client cannot send. */
import type { ServiceClients } from './service.ts'
import { adminKey } from './service.ts'

export type FormFile = { path: string; content: string | Uint8Array }

export { oddZip, skillText } from '@steward/server/resources/skills/zip-fixture.ts'

/** Returns a form with `fields`, then the files under the name `files[]`. */
export function skillForm(
  files: readonly FormFile[],
  fields: Record<string, string> = {},
  field = 'files[]',
): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  for (const { path, content } of files) form.append(field, new Blob([Buffer.from(content)]), path)
  return form
}

export type SentBody = string | FormData | Uint8Array<ArrayBuffer>

export type BodyAnswer<T> = { status: number; text: string; body: T }

export async function sendBody<T>(
  { base }: Pick<ServiceClients, 'base'>,
  path: string,
  body: SentBody,
  headers: Record<string, string> = {},
): Promise<BodyAnswer<T>> {
  const all = { 'x-api-key': adminKey, ...headers }
  const answer = await fetch(base + path, { method: 'POST', headers: all, body })
  const text = await answer.text()
  return { status: answer.status, text, body: JSON.parse(text) as T }
}
