import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { awsKeys, awsRole, awsRoutes, containerToken } from '@steward/cloud/stubs/stub-aws.ts'
import { googleRoutes } from '@steward/cloud/stubs/stub-google.ts'
import type { StubCloud } from '@steward/cloud/stubs/stub-server.ts'
import { startStubCloud } from '@steward/cloud/stubs/stub-server.ts'
import { changedVariables } from '@steward/cloud/variables-fixture.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { bedrockDialect } from '@steward/model/stubs/stub-bedrock.ts'
import type { StubAnswer, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { vertexDialect } from '@steward/model/stubs/stub-vertex.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { leadHosts } from '../led-hosts.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const says = (text: string): StubAnswer => ({
  blocks: [{ type: 'text', pieces: [text] }],
  stop: 'end_turn',
})
const apiKey = 'bedrock-api-key-0123456789'
const own = {
  type: 'aws_keys',
  access_key_id: awsKeys.accessKeyId,
  secret_access_key: awsKeys.secretAccessKey,
}
const path = '/v1/ext/model_cards'
const bedrockHost = 'bedrock-runtime.eu-central-1.amazonaws.com'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`models of clouds on ${database}`, () => {
    const variables = changedVariables()
    let folder: string
    let identities: StubCloud
    let [bedrock, vertex, gateway]: StubModel[] = []
    const stated: Parameters<typeof awsRoutes>[0] = {}
    const [aws, google] = [awsRoutes(stated), googleRoutes()]

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'clouds-'))
      identities = await startStubCloud(...aws.routes, ...google.routes)
      bedrock = await startStub(bedrockDialect({ keys: aws.keys, apiKey }))
      vertex = await startStub(vertexDialect(google.tokens))
      gateway = await startStub(anthropicDialect)
      bedrock.replies(says('from Bedrock'))
      vertex.replies(says('from Vertex'))
      gateway.replies(says('from the gateway'))
      const token = join(folder, 'token')
      await writeFile(token, containerToken)
      variables.set('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${identities.url}/v1/credentials`)
      variables.set('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', token)
      variables.set('AWS_CONFIG_FILE', join(folder, 'none'))
      variables.set('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'))
      variables.set('CLOUDSDK_CONFIG', folder)
      variables.set('GCE_METADATA_HOST', new URL(identities.url).host)
    })
    after(async () => {
      variables.restore()
      for (const stub of [bedrock, vertex, gateway]) await stub?.[Symbol.asyncDispose]()
      await identities[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    })

    const leadAll = () =>
      leadHosts({
        [bedrockHost]: bedrock?.url ?? '',
        'europe-west1-aiplatform.googleapis.com': vertex?.url ?? '',
        'sts.eu-central-1.amazonaws.com': identities.url,
        'oauth2.googleapis.com': identities.url,
      })

    /** Runs a service whose requests to the clouds reach the stand-ins. */
    async function within(
      env: Record<string, string>,
      run: (service: TestService, led: { hosts: string[] }) => Promise<void>,
    ): Promise<void> {
      const service = await boot(database, { env })
      // A service sets the dispatcher of the process.
      using led = leadAll()
      try {
        await run(service, led)
      } finally {
        await service.close()
      }
    }

    const answered = async (service: TestService, model: unknown): Promise<string> =>
      textOf(only(await turn(service, await newSession(service, { model }), 'hi'), 'agent.message'))

    async function make(service: TestService, more: object) {
      const card = { model_id: fresh('handle').replace(' ', '-'), ...more }
      const made = await service.ask('POST', path, card)
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return made.body
    }
    async function refused(service: TestService, more: object, words: RegExp) {
      const card = { model_id: fresh('handle').replace(' ', '-'), ...more }
      const { status, body } = await service.ask('POST', path, card)
      assert.equal(status, 400, JSON.stringify(body))
      assert.match(String((body['error'] as LooseBody)['message']), words)
    }

    verifies(
      ['settings/model-providers', 'models/list', 'model-cards/cloud/ids'],
      'Claude ids run at several clouds at once, as the identity of the machine, and without a card',
      async () => {
        const providers = {
          'bedrock-eu': { type: 'bedrock', region: 'eu-central-1', models: ['claude-sonnet-*'] },
          vertex: {
            type: 'vertex',
            region: 'europe-west1',
            project: 'stub-project',
            models: ['claude-*'],
          },
          gateway: { type: 'gateway', base_url: gateway?.url, api_key: 'sk-gateway-0123456789' },
        }
        await within({ MODEL_PROVIDERS: JSON.stringify(providers) }, async (service, led) => {
          assert.equal(await answered(service, 'claude-sonnet-4-5'), 'from Bedrock')
          assert.equal(await answered(service, 'claude-haiku-4-5'), 'from Vertex')
          assert.equal(await answered(service, 'vertex/claude-sonnet-4-5'), 'from Vertex')
          assert.equal(await answered(service, 'gateway/claude-sonnet-4-5'), 'from the gateway')
          assert.deepEqual(
            [bedrock?.requests.at(-1)?.path, vertex?.requests.at(-1)?.path.split('/').at(-1)],
            [
              '/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream',
              'claude-sonnet-4-5%4020250929:streamRawPredict',
            ],
          )
          assert.ok(led.hosts.includes(bedrockHost))
          const { body } = await service.ask('GET', '/v1/models?limit=100')
          const listed = body.data.find(({ id }) => id === 'claude-sonnet-4-5')
          assert.ok(listed?.['list_price'], JSON.stringify(body))
          const logged = service.logged.join('\n')
          for (const { secret, sessionToken } of aws.keys.values())
            assert.ok(!logged.includes(secret) && !logged.includes(sessionToken ?? secret))
          for (const token of google.tokens) assert.ok(!logged.includes(token))
        })
      },
    )

    verifies(
      [
        'model-cards/field/cloud',
        'model-cards/field/credentials',
        'model-cards/cloud/fields',
        'model-cards/cloud/ids',
        'model-cards/key/sealed',
        'model-cards/probe/again',
      ],
      'a workspace names a cloud with credentials of its own, which no answer has',
      async () => {
        await within({}, async (service) => {
          const card = {
            provider: 'bedrock',
            model: 'claude-sonnet-4-5',
            cloud: { region: 'eu-central-1' },
          }
          const made = await make(service, { ...card, credentials: own })
          assert.deepEqual(made['probe'], { ok: true, url: `https://${bedrockHost}` })
          assert.deepEqual(
            [made['credentials_type'], made['api_key_preview'], made['cloud']],
            ['aws_keys', awsKeys.accessKeyId, { region: 'eu-central-1' }],
          )
          assert.equal(await answered(service, { id: made['model_id'] }), 'from Bedrock')
          const google1 = await make(service, {
            provider: 'vertex',
            model: 'claude-sonnet-4-5',
            cloud: { region: 'europe-west1', project: 'stub-project' },
            credentials: { ...google.key, project_id: 'stub-project' },
          })
          assert.equal(await answered(service, { id: google1['model_id'] }), 'from Vertex')
          const probed = await service.ask('POST', `${path}/${made.id}/probe`)
          assert.equal(probed.body['ok'], true)
          const wrong = { ...own, secret_access_key: 'another-secret-access-key-0123456789' }
          const update = { credentials: wrong }
          const kept = await service.ask('POST', `${path}/${made.id}`, update)
          assert.equal(kept.status, 400)
          assert.match(
            JSON.stringify(kept.body),
            /credentials: the provider refused it: The request signature we calculated does not match/,
          )
          const rows = await service.tenantDatabase.read
            .selectFrom('model_cards')
            .selectAll()
            .execute()
          const shown = JSON.stringify([made, google1, probed.body, kept.body, rows])
          for (const secret of [
            own.secret_access_key,
            wrong.secret_access_key,
            JSON.stringify(google.key.private_key).slice(40, 80),
          ])
            assert.ok(!(shown + service.logged.join('')).includes(secret))

          await refused(service, { ...card, cloud: {}, credentials: own }, /^cloud\.region: is/)
          await refused(service, { ...card, api_key: 'k', credentials: own }, /^api_key: goes not/)
          await refused(
            service,
            { ...card, credentials: google.key },
            /^credentials\.type: .*takes aws/,
          )
          await refused(
            service,
            { ...card, provider: 'vertex', api_key: 'k' },
            /^credentials: is req/,
          )
          const foundry = { ...card, provider: 'foundry', api_key: 'k' }
          await refused(service, { ...foundry, cloud: {} }, /^cloud\.resource: is required/)
          await refused(service, foundry, /^cloud\.region: is not for the provider foundry/)
          await refused(service, { ...card, provider: 'groq', api_key: 'k' }, /^cloud: is for the/)
          await refused(
            service,
            { ...card, cloud: { region: 'evil.example/' }, credentials: own },
            /cloud\.region: must be a region/,
          )
        })
      },
    )

    verifies(
      ['model-cards/key/no-ambient', 'settings/cloud-identity-workspaces'],
      'the identity of the server is for workspaces that its operator lists, and goes to the cloud alone',
      async () => {
        const dataDir = join(folder, 'twice')
        const env: Record<string, string> = { DATA_DIR: dataDir }
        if (database === 'postgres') env['DATABASE_URL'] = await newPostgresUrl()
        const card = {
          provider: 'bedrock',
          model: 'claude-sonnet-4-5',
          cloud: { region: 'eu-central-1' },
          credentials: { type: 'machine' },
        }
        let workspace = ''
        await within(env, async (strict, led) => {
          const me = await strict.ask<{ active_workspace_id: string }>('GET', '/v1/ext/me')
          workspace = me.body.active_workspace_id
          await refused(
            strict,
            card,
            /^credentials: this workspace may not .*CLOUD_IDENTITY_WORKSP/,
          )
          assert.deepEqual(led.hosts, [])
        })
        let handle: unknown
        await within({ ...env, CLOUD_IDENTITY_WORKSPACES: workspace }, async (listed) => {
          const made = await make(listed, card)
          handle = made['model_id']
          assert.equal(await answered(listed, { id: handle }), 'from Bedrock')
          await refused(listed, { ...card, base_url: bedrock?.url }, /^base_url: leave it out/)
          const moved = await listed.ask('POST', `${path}/${made.id}`, { base_url: bedrock?.url })
          assert.equal(moved.status, 400)
          stated.externalId = workspace
          const role = { type: 'machine', role_arn: awsRole }
          const assumed = await make(listed, { ...card, credentials: role })
          assert.equal(await answered(listed, { id: assumed['model_id'] }), 'from Bedrock')
          const given = { ...role, external_id: 'of-another-workspace' }
          const more = { ...card, model_id: 'x', credentials: given }
          assert.equal((await listed.ask('POST', path, more)).status, 400)
        })
        await within(env, async (again) => {
          const failed = await turn(again, await newSession(again, { model: { id: handle } }), 'hi')
          assert.match(JSON.stringify(failed), /may not use the identity of the server/)
        })
      },
    )

    verifies(
      'model-cards/cloud/refreshed',
      'a credential that has ended is replaced, and without one a turn has the words of the cloud',
      async () => {
        stated.externalId = undefined
        await within({}, async (service, led) => {
          const credentials = { ...own, role_arn: awsRole }
          const made = await make(service, {
            provider: 'bedrock',
            model: 'claude-sonnet-4-5',
            cloud: { region: 'eu-central-1' },
            credentials,
          })
          const endAll = () => {
            for (const id of aws.keys.keys())
              if (id.startsWith('ASIA'))
                aws.keys.set(id, { secret: 'ended', sessionToken: 'ended' })
          }
          const asked = () => led.hosts.filter((host) => host.startsWith('sts.')).length
          const before = identities.requests.length
          endAll()
          assert.equal(await answered(service, { id: made['model_id'] }), 'from Bedrock')
          assert.ok(identities.requests.length > before && asked() > 0)
          endAll()
          stated.refuses = { status: 403, code: 'AccessDenied', message: 'is not authorized' }
          const session = await newSession(service, { model: { id: made['model_id'] } })
          const failed = JSON.stringify(await turn(service, session, 'hi'))
          stated.refuses = undefined
          assert.match(failed, /The cloud gave no credential: .*is not authorized/)
        })
      },
    )
  })
}
