/** Uploads in the interface's own dialect. */
import assert from 'node:assert/strict'
import type { LooseBody, TestService } from './service.ts'
import { adminKey } from './service.ts'

type FileUpload = {
  name?: string
  content?: string | Uint8Array<ArrayBuffer>
  fields?: Record<string, string>
  headers?: Record<string, string>
  path?: string
}

/** Posts a form: the fields, then the file. */
export function postFile(
  service: TestService,
  {
    name = 'a.txt',
    content = 'hello',
    fields = {},
    headers = {},
    path = '/v1/files',
  }: FileUpload = {},
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

export async function uploadFile(service: TestService, upload?: FileUpload): Promise<LooseBody> {
  const answer = await postFile(service, upload)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return JSON.parse(text) as LooseBody
}
