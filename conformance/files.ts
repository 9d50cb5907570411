/** Uploads in the interface's own dialect. */
import assert from 'node:assert/strict'
import type { Loose, Service } from './service.ts'
import { adminKey } from './service.ts'

type Upload = {
  name?: string
  content?: string | Uint8Array<ArrayBuffer>
  fields?: Record<string, string>
  headers?: Record<string, string>
  path?: string
}

/** The fields come before the file. */
export function postFile(
  service: Service,
  { name = 'a.txt', content = 'hello', fields = {}, headers = {}, path = '/v1/files' }: Upload = {},
): Promise<Response> {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.set(field, value)
  form.set('file', new Blob([content], { type: 'text/plain' }), name)
  return fetch(service.base + path, {
    method: 'POST',
    headers: { 'x-api-key': adminKey, ...headers },
    body: form,
  })
}

export async function uploadFile(service: Service, upload?: Upload): Promise<Loose> {
  const answer = await postFile(service, upload)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return JSON.parse(text) as Loose
}
