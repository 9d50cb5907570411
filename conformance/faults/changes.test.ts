/** Vaults that change during a call. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { sessionOf, vaultOf } from '../mcp.ts'
import { verifies } from '../verifies.ts'
import type { UpstreamService } from './upstream-service.ts'
import { bearer, startUpstreamService, toolset } from './upstream-service.ts'

const [first, second, value] = ['first', 'second', 'value'].map(
  (name) => `the-${name}-secret-of-this-test`,
) as [string, string, string]
const variable = {
  type: 'environment_variable',
  secret_name: 'API_KEY',
  secret_value: value,
  networking: { type: 'limited', allowed_hosts: ['api.example'] },
}

describe('a vault that changes in the midst of a call', () => {
  let upstream: UpstreamService
  /** Runs while the request to `/first` waits for its answer. */
  let meanwhile: () => Promise<unknown>
  before(async () => {
    upstream = await startUpstreamService({
      async '/first'(response, request) {
        await meanwhile()
        response.end(`whole ${request.headers.authorization}`)
      },
    })
  })
  after(() => upstream[Symbol.asyncDispose]())

  /** Sends two requests of one program on one connection, with the change between them. */
  async function around(change: (vault: string, credential: string) => Promise<unknown>) {
    const vault = await vaultOf(upstream.service, bearer(first), variable)
    const listed = await upstream.service.ask('GET', `/v1/vaults/${vault}/credentials`)
    const found = listed.body.data.find(
      ({ auth }) => (auth as { type: string }).type !== variable.type,
    )
    meanwhile = () => change(vault, found?.id ?? '')
    const session = await sessionOf(upstream.service, { tools: [toolset], vault_ids: [vault] })
    const from = upstream.noted.length
    const command =
      'curl -sS -H "X-Key: $API_KEY" https://api.example/first https://api.example/then'
    const { text } = await upstream.said(session, `run: ${command}`)
    const [one, other] = upstream.noted.slice(from)
    assert.equal(upstream.noted.length, from + 2)
    assert.deepEqual([one?.authorization, one?.key], [`Bearer ${first}`, value])
    assert.ok(![first, second, value].some((secret) => text.includes(secret)), text)
    return { text, other, session }
  }

  const ask = async (method: string, path: string, body?: object): Promise<void> => {
    const { status, body: said } = await upstream.service.ask(method, path, body)
    assert.equal(status, 200, JSON.stringify(said))
  }

  verifies(
    ['vaults/update/rotates', 'proxy/lookup-every-call'],
    'a token that is rotated: the call under way ends as it began, the next on its connection has the new token',
    async () => {
      const { other, text } = await around((vault, credential) =>
        ask('POST', `/v1/vaults/${vault}/credentials/${credential}`, {
          auth: { type: 'static_bearer', token: second },
        }),
      )
      assert.deepEqual([other?.authorization, other?.key], [`Bearer ${second}`, value])
      assert.equal(text.match(/whole Bearer \*+/g)?.length, 2, text)
    },
  )

  const gone: Record<string, (vault: string) => Promise<void>> = {
    archived: (vault) => ask('POST', `/v1/vaults/${vault}/archive`),
    deleted: (vault) => ask('DELETE', `/v1/vaults/${vault}`),
  }
  for (const [how, change] of Object.entries(gone)) {
    verifies(
      ['vaults/archive/purges', 'vaults/delete'],
      `that is ${how}: the call under way ends as it began, the next has nothing`,
      async () => {
        const { other, text, session } = await around(change)
        assert.equal(other?.authorization, undefined)
        // The sandbox has the placeholder and not the secret.
        assert.ok(typeof other?.key === 'string' && !other.key.includes(value))
        assert.match(text, /whole Bearer \*+whole undefined/)
        const later = await upstream.said(session, 'run: curl -skS https://api.example/later')
        assert.equal(later.text.trim(), 'whole undefined')
      },
    )
  }
})
