import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { azureIdentity } from './azure.ts'
import { given } from './stubs/outcome.ts'
import { azureClient, azureFederatedToken, azureRoutes } from './stubs/stub-azure.ts'
import { startStubCloud } from './stubs/stub-server.ts'
import { changedVariables } from './variables-fixture.ts'

const scope = 'https://cognitiveservices.azure.com/.default'

void describe('an identity at Microsoft', () => {
  let folder = ''
  const variables = changedVariables()
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'azure-'))
    for (const name of ['TENANT_ID', 'CLIENT_ID', 'CLIENT_SECRET', 'FEDERATED_TOKEN_FILE'])
      variables.set(`AZURE_${name}`, undefined)
  })
  afterEach(async () => {
    variables.restore()
    await rm(folder, { recursive: true })
  })

  void it('is a client by its secret', async () => {
    const { routes, tokens } = azureRoutes()
    await using cloud = await startStubCloud(...routes)
    const identity = azureIdentity(azureClient, { scope, fetch: cloud.fetch })
    const { token, expiresMs } = given(await identity.current())
    assert.ok(tokens.has(token))
    assert.ok((expiresMs ?? 0) > Date.now() + 3_000_000)
  })

  void it("says Microsoft's own words where the secret is refused, without the secret", async () => {
    const { routes } = azureRoutes()
    await using cloud = await startStubCloud(...routes)
    const client_secret = 'another~secret.of.the.client'
    const deps = { scope, fetch: cloud.fetch }
    const outcome = await azureIdentity({ ...azureClient, client_secret }, deps).current()
    assert.ok(!outcome.ok && !outcome.retryable, JSON.stringify(outcome))
    assert.match(outcome.message, /AADSTS7000215: Invalid client secret provided/)
    assert.ok(!outcome.message.includes(client_secret))
  })

  void it('is the managed identity of the machine', async () => {
    const { routes, tokens } = azureRoutes()
    await using cloud = await startStubCloud(...routes)
    const identity = azureIdentity({ type: 'machine' }, { scope, fetch: cloud.fetch })
    assert.ok(tokens.has(given(await identity.current()).token))
    const { host, path } = cloud.requests.at(-1) ?? {}
    assert.equal(host, '169.254.169.254')
    assert.match(path ?? '', /resource=https%3A%2F%2Fcognitiveservices\.azure\.com/)
    // In the same test, because the library keeps its first way to the address for the whole process.
    const unknown = { type: 'machine', client_id: 'unknown' } as const
    const outcome = await azureIdentity(unknown, { scope, fetch: cloud.fetch }).current()
    assert.ok(!outcome.ok)
    assert.match(outcome.message, /Identity not found/)
  })

  void it('is the one of a file of workload identity', async () => {
    const { routes, tokens } = azureRoutes()
    await using cloud = await startStubCloud(...routes)
    const file = join(folder, 'token')
    await writeFile(file, azureFederatedToken)
    variables.set('AZURE_FEDERATED_TOKEN_FILE', file)
    variables.set('AZURE_TENANT_ID', azureClient.tenant_id)
    variables.set('AZURE_CLIENT_ID', azureClient.client_id)
    const identity = azureIdentity({ type: 'machine' }, { scope, fetch: cloud.fetch })
    assert.ok(tokens.has(given(await identity.current()).token))
  })
})
