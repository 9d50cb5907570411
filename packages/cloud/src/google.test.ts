import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { GoogleCredentials } from './credentials.ts'
import { googleIdentity } from './google.ts'
import { given } from './stubs/outcome.ts'
import { federatedToken, googleRoutes } from './stubs/stub-google.ts'
import { startStubCloud } from './stubs/stub-server.ts'
import { changedVariables } from './variables-fixture.ts'

void describe('an identity at Google', () => {
  let folder = ''
  const variables = changedVariables()
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'google-'))
    variables.set('CLOUDSDK_CONFIG', folder)
    variables.set('GOOGLE_APPLICATION_CREDENTIALS', undefined)
    variables.set('GCE_METADATA_HOST', undefined)
  })
  afterEach(async () => {
    variables.restore()
    await rm(folder, { recursive: true })
  })

  void it('is a service account by its key', async () => {
    const { routes, key, tokens } = googleRoutes()
    await using cloud = await startStubCloud(...routes)
    const { token, expiresMs } = given(await googleIdentity(key, { fetch: cloud.fetch }).current())
    assert.ok(tokens.has(token))
    assert.ok((expiresMs ?? 0) > Date.now() + 3_000_000)
  })

  void it("says Google's own words where a key is refused, without the key", async () => {
    const { routes, key } = googleRoutes()
    await using cloud = await startStubCloud(...routes)
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const outcome = await googleIdentity({ ...key, private_key }, { fetch: cloud.fetch }).current()
    assert.ok(!outcome.ok && !outcome.retryable)
    assert.match(outcome.message, /invalid_grant.*Invalid JWT Signature/)
  })

  void it('says that a key is none', async () => {
    const { key } = googleRoutes()
    await using cloud = await startStubCloud()
    const private_key = '-----BEGIN PRIVATE KEY-----\nnothing\n-----END PRIVATE KEY-----\n'
    const outcome = await googleIdentity({ ...key, private_key }, { fetch: cloud.fetch }).current()
    assert.ok(!outcome.ok)
    assert.equal(cloud.requests.length, 0)
  })

  void it('is the account of the machine', async () => {
    const { routes, tokens } = googleRoutes()
    await using cloud = await startStubCloud(...routes)
    const identity = googleIdentity({ type: 'machine' }, { fetch: cloud.fetch })
    assert.ok(tokens.has(given(await identity.current()).token))
    assert.equal(cloud.requests[0]?.host, '169.254.169.254')
  })

  void it('is the account of a key file that a variable names', async () => {
    const { routes, key, tokens } = googleRoutes()
    await using cloud = await startStubCloud(...routes)
    const file = join(folder, 'key.json')
    await writeFile(file, JSON.stringify({ ...key, project_id: 'stub-project' }))
    variables.set('GOOGLE_APPLICATION_CREDENTIALS', file)
    const identity = googleIdentity({ type: 'machine' }, { fetch: cloud.fetch })
    assert.ok(tokens.has(given(await identity.current()).token))
  })

  void it('is what a token of another provider is exchanged for', async () => {
    const { routes, tokens } = googleRoutes()
    await using cloud = await startStubCloud(...routes)
    const [file, path] = [join(folder, 'token'), join(folder, 'federation.json')]
    await writeFile(file, federatedToken)
    await writeFile(
      path,
      JSON.stringify({
        type: 'external_account',
        audience:
          '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: 'https://sts.googleapis.com/v1/token',
        credential_source: { file },
      }),
    )
    const identity = googleIdentity({ type: 'file', path }, { fetch: cloud.fetch })
    assert.ok(tokens.has(given(await identity.current()).token))
  })

  void it('says what is missing where nothing is found', async () => {
    await using cloud = await startStubCloud()
    const outcome = await googleIdentity({ type: 'machine' }, { fetch: cloud.fetch }).current()
    assert.ok(!outcome.ok)
    assert.match(outcome.message, /GOOGLE_APPLICATION_CREDENTIALS names no file/)
    const path = join(folder, 'missing.json')
    const file = await googleIdentity({ type: 'file', path }, { fetch: cloud.fetch }).current()
    assert.ok(!file.ok)
    assert.match(file.message, /missing\.json/)
  })

  void it('takes of a key file what it needs, and no address', () => {
    const { key } = googleRoutes()
    const parsed = GoogleCredentials.parse({ ...key, token_uri: 'https://elsewhere.example' })
    assert.deepEqual(parsed, key)
  })
})
