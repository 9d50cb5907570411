import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OldestAnthropic from '@anthropic-ai/sdk-oldest'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel, says } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

const hello = [{ role: 'user' as const, content: 'hello' }]

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`/v1/messages on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    before(async () => {
      service = await boot(database, { env: { MESSAGES_API: 'true' } })
      stub = await startStub(anthropicDialect)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })

    verifies('messages/create', 'the official clients, old and new', async () => {
      for (const Client of [Anthropic, OldestAnthropic]) {
        const client = new Client({ baseURL: service.base, apiKey: adminKey, maxRetries: 0 })
        const answer = await client.messages.create({ model: 'offline', max_tokens: 100, messages: hello })
        assert.equal(answer.type, 'message')
        const stream = client.messages.stream({ model: 'offline', max_tokens: 100, messages: hello })
        console.log(JSON.stringify(answer), JSON.stringify(await stream.finalMessage()))
        console.log(await client.messages.countTokens({ model: 'offline', messages: hello }))
      }
      const model = await pricedModel(service, stub, { input: 1, output: 1 })
      stub.replies(says('Hi there', { input: 7, output: 3 }))
      const stream = service.client.messages.stream({ model, max_tokens: 100, messages: hello })
      console.log(JSON.stringify(await stream.finalMessage()), stub.requests.at(-1))
      console.log(JSON.stringify((await service.ask('GET', '/v1/ext/usage?group_by=api_key_id,model')).body))
    })
  })
}
