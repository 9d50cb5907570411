/** Follows docs/company-clouds.md: its settings and its card, by their text, with stand-ins at the clouds' hosts. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { awsKeys, awsRoutes } from '@steward/cloud/stubs/stub-aws.ts'
import { azureClient, azureRoutes } from '@steward/cloud/stubs/stub-azure.ts'
import { googleRoutes } from '@steward/cloud/stubs/stub-google.ts'
import type { StubCloud } from '@steward/cloud/stubs/stub-server.ts'
import { startStubCloud } from '@steward/cloud/stubs/stub-server.ts'
import { changedVariables } from '@steward/cloud/variables-fixture.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { bedrockDialect } from '@steward/model/stubs/stub-bedrock.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { z } from 'zod'
import { parse } from 'yaml'
import { leadHosts } from './led-hosts.ts'
import { adminKey, boot } from './service.ts'
import type { TestService } from './service.ts'
import { newSession, only, textOf, turn } from './turns.ts'

const page = join(import.meta.dirname, '..', 'docs/company-clouds.md')
const Settings = z.object({ model_providers: z.record(z.string(), z.unknown()) })

describe('the page about clouds', () => {
  const variables = changedVariables()
  let folder: string
  let source: string
  let identities: StubCloud
  const models = new Map<string, StubModel>()
  const [aws, google, azure] = [awsRoutes(), googleRoutes(), azureRoutes()]

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clouds-page-'))
    source = await readFile(page, 'utf8')
    identities = await startStubCloud(...aws.routes, ...google.routes, ...azure.routes)
    const bedrock = bedrockDialect({ keys: aws.keys, apiKey: 'none' })
    for (const [host, dialect] of [
      ['bedrock-runtime.eu-central-1.amazonaws.com', bedrock],
      ['europe-west1-aiplatform.googleapis.com', anthropicDialect],
      ['my-resource.services.ai.azure.com', anthropicDialect],
      ['llm.example.com', anthropicDialect],
    ] as const) {
      const stub = await startStub(dialect)
      stub.replies({ blocks: [{ type: 'text', pieces: [host] }], stop: 'end_turn' })
      models.set(host, stub)
    }
    const keyFile = join(folder, 'key.json')
    await writeFile(keyFile, JSON.stringify(google.key))
    variables.set('AWS_CONFIG_FILE', join(folder, 'none'))
    variables.set('AWS_ACCESS_KEY_ID', awsKeys.accessKeyId)
    variables.set('AWS_SECRET_ACCESS_KEY', awsKeys.secretAccessKey)
    variables.set('GOOGLE_APPLICATION_CREDENTIALS', keyFile)
    variables.set('AZURE_TENANT_ID', azureClient.tenant_id)
    variables.set('AZURE_CLIENT_ID', azureClient.client_id)
    variables.set('AZURE_CLIENT_SECRET', azureClient.client_secret)
  })
  after(async () => {
    variables.restore()
    for (const stub of models.values()) await stub[Symbol.asyncDispose]()
    await identities[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  async function within(
    env: Record<string, string>,
    run: (service: TestService) => Promise<void>,
  ): Promise<void> {
    const service = await boot('sqlite', { env })
    using _led = leadHosts({
      ...Object.fromEntries([...models].map(([host, { url }]) => [host, url])),
      'oauth2.googleapis.com': identities.url,
      'login.microsoftonline.com': identities.url,
    })
    try {
      await run(service)
    } finally {
      await service.close()
    }
  }
  const answered = async (service: TestService, model: unknown): Promise<string> =>
    textOf(only(await turn(service, await newSession(service, { model }), 'hi'), 'agent.message'))

  it('has settings by which each cloud answers, with the identity of the machine', async () => {
    const [, yaml = ''] = /```yaml\n(model_providers:[^]*?)```/.exec(source) ?? []
    const { model_providers } = Settings.parse(parse(yaml))
    await within({ MODEL_PROVIDERS: JSON.stringify(model_providers) }, async (service) => {
      const id = 'claude-sonnet-4-5'
      assert.match(await answered(service, id), /^bedrock-runtime/)
      assert.match(await answered(service, `vertex/${id}`), /aiplatform/)
      assert.match(await answered(service, `foundry/${id}`), /^my-resource/)
      assert.match(await answered(service, `gateway/${id}`), /^llm/)
    })
    const last = (host: string) => models.get(host)?.requests.at(-1)
    const vertex = last('europe-west1-aiplatform.googleapis.com')
    const places = 'projects/my-project/locations/europe-west1/publishers/anthropic/models'
    assert.equal(vertex?.path, `/v1/${places}/claude-sonnet-4-5%4020250929:streamRawPredict`)
    assert.ok(google.tokens.has(String(vertex?.headers.authorization).replace('Bearer ', '')))
    const foundry = last('my-resource.services.ai.azure.com')
    assert.deepEqual(
      [foundry?.path, foundry?.body['model']],
      ['/anthropic/v1/messages', 'my-deployment'],
    )
    assert.ok(azure.tokens.has(String(foundry?.headers.authorization).replace('Bearer ', '')))
    assert.equal(last('llm.example.com')?.headers['x-api-key'], 'sk-0123456789')
  })

  it('has a card by which a workspace reaches its own cloud', async () => {
    const [, script = ''] =
      /```sh\n(curl -s \$URL\/v1\/ext\/model_cards[^]*?)```/.exec(source) ?? []
    await within({}, async (service) => {
      const child = spawn('bash', ['-c', script], {
        env: {
          PATH: process.env['PATH'],
          URL: service.base,
          KEY: adminKey,
          AWS_ACCESS_KEY_ID: awsKeys.accessKeyId,
          AWS_SECRET_ACCESS_KEY: awsKeys.secretAccessKey,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
      assert.match(said, /"ok":true/)
      assert.ok(!said.includes(awsKeys.secretAccessKey))
      assert.match(await answered(service, { id: 'our-claude' }), /^bedrock-runtime/)
    })
  })
})
