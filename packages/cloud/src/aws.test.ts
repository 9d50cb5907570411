import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { awsIdentity } from './aws.ts'
import { AwsCredentials } from './credentials.ts'
import { awsKeys, awsRole, awsRoutes, containerToken, webIdentityToken } from './stubs/stub-aws.ts'
import { given } from './stubs/outcome.ts'
import { startStubCloud } from './stubs/stub-server.ts'
import { changedVariables } from './variables-fixture.ts'

const own = {
  type: 'aws_keys',
  access_key_id: awsKeys.accessKeyId,
  secret_access_key: awsKeys.secretAccessKey,
} as const

void describe('an identity at Amazon', () => {
  let folder = ''
  const variables = changedVariables()
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aws-'))
    // No file of the account that runs the tests, and no address of a machine.
    variables.set('AWS_CONFIG_FILE', join(folder, 'config'))
    variables.set('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'))
    variables.set('AWS_EC2_METADATA_DISABLED', 'true')
  })
  afterEach(async () => {
    variables.restore()
    await rm(folder, { recursive: true })
  })

  void it('is the keys that were given', async () => {
    await using cloud = await startStubCloud()
    const identity = awsIdentity(own, { fetch: cloud.fetch })
    assert.deepEqual(given(await identity.current()), { ...awsKeys, expiresMs: null })
    assert.equal(cloud.requests.length, 0)
  })

  void it('is a role that these keys assume, with the external id', async () => {
    const { routes, keys } = awsRoutes({ externalId: 'wrkspc_1' })
    await using cloud = await startStubCloud(...routes)
    const credentials = { ...own, role_arn: awsRole, external_id: 'wrkspc_1' }
    const identity = awsIdentity(credentials, { fetch: cloud.fetch, region: 'eu-central-1' })
    const { accessKeyId, sessionToken, expiresMs } = given(await identity.current())
    assert.equal(keys.get(accessKeyId)?.sessionToken, sessionToken)
    assert.ok((expiresMs ?? 0) > Date.now() + 3_000_000)
    assert.equal(cloud.requests[0]?.host, 'sts.eu-central-1.amazonaws.com')
    const other = awsIdentity({ ...own, role_arn: awsRole }, { fetch: cloud.fetch })
    const refused = await other.current()
    assert.ok(!refused.ok && !refused.retryable)
    assert.match(refused.message, /Not authorized to perform sts:AssumeRole/)
  })

  void it('is the one of a web identity file', async () => {
    const { routes, keys } = awsRoutes()
    await using cloud = await startStubCloud(...routes)
    const file = join(folder, 'token')
    await writeFile(file, webIdentityToken)
    variables.set('AWS_WEB_IDENTITY_TOKEN_FILE', file)
    variables.set('AWS_ROLE_ARN', awsRole)
    const identity = awsIdentity({ type: 'machine' }, { fetch: cloud.fetch, region: 'us-west-2' })
    assert.ok(keys.has(given(await identity.current()).accessKeyId))
    assert.equal(cloud.requests[0]?.host, 'sts.us-west-2.amazonaws.com')
    await writeFile(file, 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJvdGhlciJ9.eA')
    identity.forget()
    const refused = await identity.current()
    assert.ok(!refused.ok)
    assert.match(refused.message, /The token is not of this provider/)
    assert.doesNotMatch(refused.message, /eyJ/)
  })

  void it('is the one of a pod, by the address of its agent', async () => {
    const { routes, keys } = awsRoutes()
    await using cloud = await startStubCloud(...routes)
    const file = join(folder, 'token')
    await writeFile(file, containerToken)
    variables.set('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${cloud.url}/v1/credentials`)
    variables.set('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file)
    const identity = awsIdentity({ type: 'machine' }, { fetch: cloud.fetch })
    assert.ok(keys.has(given(await identity.current()).accessKeyId))
  })

  void it('is the one of the instance, by version 2 of its address', async () => {
    const { routes, keys } = awsRoutes()
    await using cloud = await startStubCloud(...routes)
    variables.set('AWS_EC2_METADATA_DISABLED', 'false')
    variables.set('AWS_EC2_METADATA_SERVICE_ENDPOINT', cloud.url)
    const identity = awsIdentity({ type: 'machine' }, { fetch: cloud.fetch })
    assert.ok(keys.has(given(await identity.current()).accessKeyId))
    assert.equal(cloud.requests[0]?.method, 'PUT')
  })

  void it('assumes a role as the machine that it runs on', async () => {
    const { routes, keys } = awsRoutes()
    await using cloud = await startStubCloud(...routes)
    variables.set('AWS_ACCESS_KEY_ID', awsKeys.accessKeyId)
    variables.set('AWS_SECRET_ACCESS_KEY', awsKeys.secretAccessKey)
    const credentials = { type: 'machine', role_arn: awsRole } as const
    const identity = awsIdentity(credentials, { fetch: cloud.fetch })
    assert.ok(keys.get(given(await identity.current()).accessKeyId)?.sessionToken)
  })

  void it('says what is missing where nothing is found', async () => {
    await using cloud = await startStubCloud()
    const outcome = await awsIdentity({ type: 'machine' }, { fetch: cloud.fetch }).current()
    assert.ok(!outcome.ok)
    assert.match(outcome.message, /credential/i)
  })

  void it("gives the cloud's own words, without the secret", async () => {
    const message = `No for ${awsKeys.secretAccessKey}`
    const { routes } = awsRoutes({ refuses: { status: 403, code: 'AccessDenied', message } })
    await using cloud = await startStubCloud(...routes)
    const outcome = await awsIdentity(
      { ...own, role_arn: awsRole },
      { fetch: cloud.fetch },
    ).current()
    assert.ok(!outcome.ok && !outcome.retryable)
    assert.match(outcome.message, /No for \*{40}/)
  })

  void it('is refused by the schema with an ARN that is none', () => {
    assert.ok(!AwsCredentials.safeParse({ ...own, role_arn: 'models' }).success)
    assert.ok(AwsCredentials.safeParse({ type: 'machine', role_arn: awsRole }).success)
  })
})
