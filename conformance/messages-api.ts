/** Asks `/v1/messages`, and reads what such requests count as. */
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import type { ServiceClients } from './service.ts'
import { until } from './until.ts'

export const hello = [{ role: 'user' as const, content: 'hello' }]
export const shortAsk = { max_tokens: 100, messages: hello }

export type MessageUsage = {
  model: string
  api_key_id: string | null
  requests: number
  input_tokens: number
  output_tokens: number
}

/** The facts of an error of the official client. */
export async function failureOf(asked: Promise<unknown>) {
  const error: unknown = await asked.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Anthropic.APIError, String(error))
  const body = error.error as { type: string; error: { type: string; message: string } }
  assert.equal(body.type, 'error')
  return { status: error.status, requestId: error.requestID, ...body.error }
}

/** Waits until requests of the model are counted, and returns their sum. */
export async function countedUsage(service: ServiceClients, model: string): Promise<MessageUsage> {
  const found: MessageUsage[] = []
  await until(async () => {
    const { body } = await service.ask<{ data: { results: MessageUsage[] }[] }>(
      'GET',
      '/v1/ext/usage?group_by=api_key_id,model',
    )
    const rows = body.data.flatMap(({ results }) => results)
    found.push(...rows.filter((row) => row.model === model && row.api_key_id !== null))
    return found.length > 0
  })
  return found[0] ?? assert.fail('nothing was counted')
}
