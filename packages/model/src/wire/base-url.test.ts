import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ModelWire } from '../spec.ts'
import { requestAddress } from './base-url.ts'

void describe('the address of a model', () => {
  const cases: [wire: ModelWire, base: string, exact: boolean, address: string][] = [
    ['openai-completions', 'http://h', false, 'http://h/v1/chat/completions'],
    ['openai-completions', 'http://h/api/v3/', false, 'http://h/api/v3/chat/completions'],
    ['openai-completions', 'http://h/inference', false, 'http://h/inference/v1/chat/completions'],
    ['openai-completions', 'http://h/inference', true, 'http://h/inference/chat/completions'],
    ['openai-completions', 'http://h/x/chat/completions', false, 'http://h/x/chat/completions'],
    ['openai-responses', 'http://h/v1/responses', false, 'http://h/v1/responses'],
    ['anthropic-messages', 'http://h/v1/messages', false, 'http://h/v1/messages'],
    ['anthropic-messages', 'http://h', false, 'http://h/v1/messages'],
    ['google-generative-ai', 'http://h', false, 'http://h/v1beta/models/m:streamGenerateContent'],
  ]
  for (const [wire, base_url, exactBaseUrl, address] of cases)
    void it(`${base_url} over ${wire}${exactBaseUrl ? ', as it is' : ''} is ${address}`, () =>
      assert.equal(
        requestAddress(wire, { base_url, model: 'm', native_config: { exactBaseUrl } }),
        address,
      ))
})
