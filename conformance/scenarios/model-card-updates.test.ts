import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

const path = '/v1/ext/model_cards'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`updates of model cards on ${database}`, () => {
    let service: TestService
    before(async () => {
      service = await boot(database)
    })
    after(() => service.close())

    verifies(
      'model-cards/update/together',
      'an update is applied to what another wrote while its card was probed',
      async () => {
        const held: ServerResponse[] = []
        let [asked, least] = [0, 0]
        const endpoint = createServer((_, response) => {
          held.push(response)
          if (++asked >= least) for (const each of held.splice(0)) each.writeHead(404).end()
        }).listen(0, '127.0.0.1')
        await once(endpoint, 'listening')
        const { port } = endpoint.address() as AddressInfo
        const { body: made } = await service.ask('POST', path, {
          ...{ model_id: 'a-card', provider: 'ant-compatible', model: 'stub-1' },
          ...{ base_url: `http://127.0.0.1:${port}`, api_key: 'sk-old-key-0123456789' },
        })
        least = asked + 2
        const updates = [
          { display_name: 'Renamed' },
          { api_key: 'sk-new-key-9876543210', custom_headers: { 'x-team': 'two' } },
        ]
        const [, rotated] = await Promise.all(
          updates.map((update) => service.ask('POST', `${path}/${made.id}`, update)),
        )
        endpoint.closeAllConnections()
        endpoint.close()
        const { body } = await service.ask('GET', `${path}/${made.id}`)
        assert.deepEqual(
          [body['display_name'], body['custom_headers'], body['api_key_preview']],
          ['Renamed', ['x-team'], rotated?.body['api_key_preview']],
        )
        assert.notEqual(body['api_key_preview'], made['api_key_preview'])
      },
    )
  })
}
