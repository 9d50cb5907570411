import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openForRaces } from '../../ground/database/race-fixture.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import { insertEndpoint, mostEndpoints } from './changes.ts'
import { newSecret } from './sign.ts'
import { buildEndpointRow, endpointStore } from './store.ts'

const tenant = 'wrkspc_a'
const seal = createSeal('a root secret of webhooks')
const endpoint = () => {
  const body = { url: 'https://example.com/hook', enabled_events: ['*'] }
  return buildEndpointRow(tenant, body, { seal, secret: newSecret(), now: 0 })
}

it('two endpoints that are created at the same time do not pass the limit of a workspace', async () => {
  await using at = await openForRaces()
  const { database, race } = at
  await database.write(async (tx) => {
    for (let made = 1; made < mostEndpoints; made++) await insertEndpoint(tx, endpoint())
  })
  const outcomes = await race(
    (tx) => insertEndpoint(tx, endpoint()),
    (tx) => insertEndpoint(tx, endpoint()),
  )
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
  assert.equal(await endpointStore(database.read).count(tenant), mostEndpoints)
})
