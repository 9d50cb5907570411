import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TokenEstimateShown } from '@steward/protocol/token-estimates.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { custom } from '../turns.ts'
import { verifies } from '../verifies.ts'

const toolset = { type: 'agent_toolset_20260401' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`estimates of tokens on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const path = '/v1/ext/token_estimates'
    async function estimate(body: object): Promise<TokenEstimateShown> {
      const asked = { model: 'offline', ...body }
      const answer = await service.ask<TokenEstimateShown>('POST', path, asked)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    }

    verifies(
      ['models/estimate', 'models/estimate/method', 'models/estimate/left-out'],
      'a prompt is estimated by its bytes, with the tools that a model reads',
      async () => {
        const texts = await estimate({ system: 'x'.repeat(350), text: 'ü'.repeat(35) })
        assert.deepEqual(texts.parts, { system: 100, tools: 0, text: 20 })
        assert.equal(texts.tokens, 120)
        assert.equal(texts.is_estimate, true)
        assert.match(texts.method, /bytes/)
        assert.equal(texts.window_tokens, 200_000)

        const whole = await estimate({ tools: [toolset] })
        assert.ok(whole.parts.tools > 500, 'the descriptions of all built-in tools')
        const read = [{ name: 'read', enabled: true }]
        const one = await estimate({
          tools: [{ ...toolset, default_config: { enabled: false }, configs: read }],
        })
        assert.ok(one.tokens > 20 && one.tokens < whole.tokens / 2)
        const own = await estimate({ tools: [custom] })
        assert.ok(own.tokens > 10 && own.tokens < 100)

        const server = { type: 'mcp_toolset', mcp_server_name: 'tracker' }
        const beside = await estimate({ model: 'model-of-nobody', tools: [custom, server] })
        assert.equal(beside.tokens, own.tokens)
        assert.deepEqual(beside.not_counted, ['tracker'])
        assert.equal(beside.window_tokens, null)

        const nothing = await service.ask('POST', path, { model: 'offline' })
        assert.equal(nothing.status, 400)
        assert.match(JSON.stringify(nothing.body), /text: must be given, or system, or tools/)
        const reader = await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', {
          ...{ name: 'reader', read_only: true },
        })
        const headers = { 'x-api-key': reader.body.key }
        const byReader = await service.ask('POST', path, { model: 'offline', text: 'x' }, headers)
        assert.equal(byReader.status, 200, JSON.stringify(byReader.body))
      },
    )
  })
}
