/** A caller with one API key of a running service. */
import Anthropic from '@anthropic-ai/sdk'
import type { TestService } from './service.ts'

export type KeyCaller = Pick<TestService, 'ask' | 'client'>

export const callerAt = (base: string, key: string): KeyCaller => ({
  client: new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0 }),
  async ask<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const answer = await fetch(base + path, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    const parsed = (text === '' ? null : JSON.parse(text)) as T
    return { status: answer.status, headers: answer.headers, body: parsed }
  },
})
