import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { AuthCreate } from '@steward/protocol/credential-auth.ts'
import type { SecretReference } from '@steward/protocol/secret-references.ts'
import type { ReferenceReading } from './company-secrets/company-secrets.ts'
import { openTestEgress, seal, tenant } from './callers/egress-fixture.ts'
import { authorizationServer, connectBy, upstreamServer } from './fixture.ts'
import { credentialStore } from '../../resources/vaults/credentials.ts'
import { openSecrets } from '../../resources/vaults/open-credential.ts'

const url = 'https://api.example/mcp'
const secret = 'canary-of-the-company-0123456789'
const reference: SecretReference = { type: 'secret_reference', manager: 'company', name: 'github' }

const away: ReferenceReading = {
  ok: false,
  why: 'away',
  message: 'the secret manager company is away: github could not be read',
}

/** Secrets by name, as the test gives them. An upstream that repeats what it was sent. */
async function opened(valid = (_authorization: string) => true) {
  const held = new Map<string, ReferenceReading>([['github', { ok: true, value: secret }]])
  const read = async (_reader: unknown, { name }: SecretReference) => {
    reads++
    return held.get(name) ?? away
  }
  let reads = 0
  const issuer = await authorizationServer()
  const server = await upstreamServer((request, response) => {
    const { authorization = '' } = request.headers
    response.writeHead(valid(authorization) ? 200 : 401).end(`${authorization} and ${secret}`)
  })
  const connect = connectBy({ 'api.example': server, 'auth.example': issuer })
  const companySecrets = { read, readAnew: read }
  const bench = await openTestEgress(server, { companySecrets, connect })
  return {
    ...bench,
    held,
    issuer,
    reads: () => reads,
    async of(...auths: AuthCreate[]) {
      const made = await bench.vaultWith(...auths)
      return { ...made, ...(await bench.session([made.vault])) }
    },
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await issuer[Symbol.asyncDispose]()
    },
  }
}

const messageOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message}` : message

const bearer: AuthCreate = { type: 'static_bearer', token: reference, mcp_server_url: url }
const variable: AuthCreate = {
  type: 'environment_variable',
  secret_name: 'API_TOKEN',
  secret_value: reference,
  networking: { type: 'limited', allowed_hosts: ['api.example'] },
  injection_location: { header: true, body: true },
}
const stars = '*'.repeat(secret.length)

describe('a call with a secret of a secret manager', () => {
  it('carries it, and an answer that repeats it shows stars', async () => {
    await using test = await opened()
    const { egress } = await test.of(bearer)
    const answer = await egress.mcpFetch({ name: 'mine', url })(url)
    assert.equal(await answer.text(), `Bearer ${stars} and ${stars}`)
    assert.ok(!JSON.stringify(test.logged).includes(secret))
  })

  it('shows stars also when the call carries no placeholder: an earlier one may have stored it there', async () => {
    await using test = await opened()
    const { egress } = await test.of(variable)
    const answer = await egress.outboundFetch({ credentials: true })('https://api.example/notes')
    assert.equal(await answer.text(), ` and ${stars}`)
  })

  it('is not sent while the manager is away, or when the secret cannot be used', async () => {
    await using test = await opened()
    const { egress } = await test.of(bearer, variable)
    for (const [reading, words] of [
      [away, /the secret manager company is away: github could not be read/],
      [{ ok: true, value: 'two\nlines' }, /github of company cannot be used: .*one line/],
    ] as const) {
      test.held.set('github', reading)
      await assert.rejects(
        egress.mcpFetch({ name: 'mine', url })(url),
        (error) => error instanceof Error && words.test(messageOf(error)),
      )
      await assert.rejects(egress.outboundFetch({ credentials: true })('https://api.example/'))
    }
    assert.ok(!JSON.stringify(test.logged).includes('lines'))
  })

  it('is repeated once with a secret that was rotated meanwhile', async () => {
    const rotated = 'canary-after-the-rotation-0123456789'
    await using test = await opened((authorization) => authorization === `Bearer ${rotated}`)
    const { egress } = await test.of(bearer)
    const fetch = egress.mcpFetch({ name: 'mine', url })
    assert.equal((await fetch(url)).status, 401)
    assert.equal(test.reads(), 2, 'the same secret is not sent again')
    const first = test.held.get('github')
    let count = 0
    test.held.get = () => (count++ === 0 ? first : { ok: true, value: rotated })
    const answer = await fetch(url)
    assert.equal(answer.status, 200)
    assert.ok(!(await answer.text()).includes(rotated))
  })
})

describe('a command with a secret of a secret manager', () => {
  const command: AuthCreate = {
    type: 'command_secret',
    env_var: 'DEPLOY_KEY',
    token: reference,
    command_prefixes: ['deploy'],
  }

  it('has it in its variable; it is not run while the manager is away', async () => {
    await using test = await opened()
    const { egress, id } = await test.of(command)
    assert.deepEqual(await egress.commandSecrets(['deploy', 'now']), { DEPLOY_KEY: secret })
    assert.deepEqual(await egress.commandSecrets(['other']), {})
    assert.equal(test.reads(), 1)
    test.held.set('github', away)
    await assert.rejects(
      egress.commandSecrets(['deploy']),
      (error) => error instanceof RequestRefused && /company is away/.test(error.refusal.message),
    )
    const uses = await test.database.read
      .selectFrom('credential_uses')
      .select('session_id')
      .execute()
    assert.equal(uses.length, 1, 'what was not handed over was not used')
    assert.equal(uses[0]?.session_id, id)
  })
})

describe('a renewal of an OAuth token', () => {
  const oauth = (refresh_token: string): AuthCreate => ({
    type: 'mcp_oauth',
    access_token: 'access-0-of-the-first-day',
    mcp_server_url: url,
    refresh: {
      client_id: 'me',
      refresh_token,
      token_endpoint: 'https://auth.example/token',
      token_endpoint_auth: { type: 'client_secret_post', client_secret: reference },
    },
  })

  it('sends the secret of its client, and stores it nowhere', async () => {
    await using test = await opened((authorization) => authorization.includes('access-1'))
    const { egress, ids } = await test.of(oauth(test.issuer.state.current))
    assert.equal((await egress.mcpFetch({ name: 'mine', url })(url)).status, 200)
    assert.equal(test.issuer.state.asked[0]?.form['client_secret'], secret)
    const row = await credentialStore(test.database.read).active(tenant, ids[0] ?? '')
    assert.ok(row)
    assert.deepEqual(Object.keys(openSecrets(seal, row)).toSorted(), [
      'access_token',
      'refresh_token',
    ])
  })

  it('is not made while the manager is away, and calls with a valid token go on', async () => {
    let valid = 'access-0'
    await using test = await opened((authorization) => authorization.includes(valid))
    const { egress } = await test.of(oauth(test.issuer.state.current))
    const fetch = egress.mcpFetch({ name: 'mine', url })
    test.held.set('github', away)
    assert.equal((await fetch(url)).status, 200)
    assert.equal(test.reads(), 0)
    valid = 'access-1'
    assert.equal((await fetch(url)).status, 401)
    assert.equal(test.issuer.state.asked.length, 0)
  })
})
