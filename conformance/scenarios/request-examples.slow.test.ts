/** Sends the examples of the published description to a service, which accepts them and answers as described. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { exampleHash, exampleIds } from '@steward/protocol/example-ids.ts'
import type { DescribedOperation } from '../described.ts'
import { describedAt } from '../described.ts'
import { githubSettings, githubStub, installGithub } from '../github.ts'
import type { PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { openStream } from '../reader.ts'
import { skillText } from '../skills.ts'
import { uploadFile } from '../files.ts'
import type { PersonClient } from '../people.ts'
import { accept, firstLink } from '../people.ts'
import { logOf, fresh, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'
import type { WorkerPool } from '../workers.ts'
import { newPool, poll, tokenOf } from '../workers.ts'

const betas = 'agent-memory-2026-07-22,managed-agents-2026-04-01'

describe('the examples of requests', () => {
  let service: TestService
  let receiver: PostReceiver
  let described: Awaited<ReturnType<typeof describedAt>>
  let ids: Record<string, string>
  let examplesHere: Record<string, string>
  let token: string
  let owner: PersonClient

  before(async () => {
    receiver = await startReceiver()
    const stub = githubStub([{ id: 42, login: 'acme' }])
    receiver.answerWith((posted) => stub.answer(posted) ?? { status: 200 })
    service = await boot('sqlite', {
      env: {
        WORKER_INPUTS: 'files,repositories',
        RATE_LIMITS: 'writes:100000/m',
        MESSAGES_API: 'true',
        ...githubSettings(receiver.base),
      },
    })
    await makeThings()
    const here = () => examplesHere
    described = await describedAt(service, '/openapi.json', { fill, headersOf, examplesHere: here })
  })
  after(async () => {
    await service.close()
    await receiver.close()
  })

  const make = async (path: string, body: object = {}): Promise<string> => {
    const answer = await service.ask('POST', path, body, { 'vendor-beta': betas })
    assert.equal(answer.status, 200, `${path} ${JSON.stringify(answer.body)}`)
    return answer.body.id
  }

  /** Creates one thing of each kind that a path or an example names. */
  async function makeThings(): Promise<void> {
    const environment = await make('/v1/environments', { name: fresh('environment') })
    const agent = await make('/v1/agents', { name: 'a', model: 'offline', tools: [] })
    const file = (await uploadFile(service, { name: 'a.txt', content: 'text' })).id
    const store = await make('/v1/memory_stores', { name: 'a store' })
    const memories = `/v1/memory_stores/${store}/memories`
    const resources = [
      { type: 'github_repository', url: 'https://git.example/a/b' },
      { type: 'memory_store', memory_store_id: store },
    ]
    const session = await make('/v1/sessions', {
      ...{ agent, environment_id: environment, resources },
    })
    await turn(service, session, 'say: hello')
    const taken = (await logOf(service, session)).find(({ type }) => type === 'user.message')
    // Open until the service ends.
    const stream = await openStream(service, '/v1/ext/stream')
    const [opened] = await stream.untilType('stream.opened')
    const pool = await newPool(service)
    const stdio = { type: 'stdio', name: 'tracker', stdio: { command: 'tracker', port: 4001 } }
    const local = await make('/v1/agents', {
      ...{ name: 'b', model: 'offline', tools: [], mcp_servers: [stdio] },
    })
    const claimed = await make('/v1/sessions', {
      ...{ agent: local, environment_id: pool.environment, resources },
    })
    // The example of a stop ends a work item, so it gets its own.
    const other = await newPool(service)
    const work = await claim(
      other,
      await make('/v1/sessions', { agent, environment_id: other.environment }),
    )
    await claim(pool, claimed)
    const vault = await make('/v1/vaults', { name: 'a vault' })
    const auth = { type: 'static_bearer', token: 'x', mcp_server_url: 'https://a.example' }
    const hook = await make('/v1/ext/webhook_endpoints', {
      ...{ url: 'https://hooks.example/a', enabled_events: ['*'] },
    })
    const files = [{ filename: 'SKILL.md', content: skillText('greeting') }]
    const workspace = await service.database.read
      .selectFrom('workspaces')
      .select('id')
      .executeTakeFirstOrThrow()
    owner = await accept(service, firstLink(service), { email: 'ada@example.com' })
    const link = await service.invite(workspace.id, 'viewer')
    const member = await accept(service, link, { email: 'bea@example.com' })
    const { body: memberIs } = await member.ask<{ user: { id: string } }>('GET', '/v1/ext/me')
    const evalBody = {
      agent,
      environment_id: environment,
      samples: [{ input: 'say: a', expected: 'a' }],
      graders: [{ name: 'a', type: 'text', op: 'equals' }],
    }
    const deployment = await make('/v1/deployments', {
      ...{ name: 'a deployment', agent, environment_id: environment },
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: a' }] }],
    })
    const publication = await make('/v1/ext/integrations/webhook/publications', {
      ...{ agent, environment_id: environment },
      webhook: { mapping: { scope: '/a', author: '/b', text: '/c' }, authors: ['ada'] },
    })
    ids = {
      '/v1/ext/integrations/{app}': 'github',
      '/v1/ext/integrations/{id}': 'webhook',
      '/v1/ext/integrations/{integration_id}': 'webhook',
      '/v1/ext/integrations/{integration_id}/publications/{pub_id}': publication,
      '/v1/ext/integrations/webhook/webhook/{pub_id}': publication,
      '/v1/ext/members/{id}': memberIs.user.id,
      '/v1/organizations/users/{id}': memberIs.user.id,
      '/v1/organizations/invites/{id}': await make('/v1/organizations/invites', {
        ...{ email: 'cy@example.com', role: 'user' },
      }),
      '/v1/organizations/workspaces/{id}/members/{user_id}': memberIs.user.id,
      '/v1/organizations/webhooks/{id}': hook,
      '/v1/agents/{id}': agent,
      '/v1/ext/agents/{id}': agent,
      '/v1/ext/environments/{id}': environment,
      '/v1/ext/views/{id}': await make('/v1/ext/views', {
        ...{ name: 'a view', noun: 'sessions', filters: 'text=a' },
      }),
      '/v1/ext/eval_datasets/{id}': await make('/v1/ext/eval_datasets', { name: 'a dataset' }),
      '/v1/deployments/{id}': deployment,
      '/v1/dreams/{id}': await make('/v1/dreams', {
        model: 'offline',
        inputs: [
          { type: 'memory_store', memory_store_id: store },
          { type: 'sessions', session_ids: [session] },
        ],
      }),
      '/v1/deployment_runs/{id}': await make(`/v1/deployments/${deployment}/run`),
      '/v1/ext/evals/{id}': await make('/v1/ext/evals', {
        ...{ ...evalBody, baseline_run_id: await make('/v1/ext/evals', evalBody) },
      }),
      '/v1/environments/{id}': environment,
      '/v1/environments/{id}/work': other.environment,
      '/v1/environments/{id}/work/{work}': work,
      '/v1/sessions/{id}': session,
      '/v1/ext/sessions/{id}': session,
      '/v1/ext/sessions/{id}/waiting_messages/{message}': taken?.id ?? '',
      '/v1/ext/stream/{id}': String(opened?.data.id),
      '/v1/sessions/{id}/events/{event_id}': taken?.id ?? '',
      '/v1/sessions/{id}/resources/{resource}': await repositoryOf(session),
      '/v1/files/{id}': file,
      '/v1/vaults/{id}': vault,
      '/v1/vaults/{id}/credentials/{credential_id}': await make(`/v1/vaults/${vault}/credentials`, {
        auth,
      }),
      '/v1/memory_stores/{id}': store,
      '/v1/memory_stores/{id}/memories/{memory_id}': await make(memories, {
        ...{ path: '/a', content: 'a' },
      }),
      '/v1/skills/{id}': await make('/v1/skills', { files }),
      '/v1/skills/{id}/versions/{version}': 'latest',
      '/v1/skills/{id}/versions/{version}/files/{filename}': 'SKILL.md',
      '/v1/skills/{id}/files/{filename}': 'SKILL.md',
      '/v1/agents/{id}/versions/{version}': '1',
      '/v1/ext/model_cards/{id}': await make('/v1/ext/model_cards', {
        ...{ model_id: 'a', provider: 'walled', model: 'm', api_key: 'k' },
        ...{ base_url: 'https://models.example', native_config: { api: 'openai-completions' } },
      }),
      '/v1/ext/webhook_endpoints/{id}': hook,
      '/v1/ext/webhook_endpoints/{id}/deliveries/{delivery}': await make(
        `/v1/ext/webhook_endpoints/${hook}/test`,
      ),
      '/v1/ext/holds/{id}': await releasedHold(session),
      '/v1/organizations/workspaces/{id}': workspace.id,
      '{rate_limit_id}': 'rl_writes',
      '/v1/organizations/spend_limits/{id}': await make('/v1/organizations/spend_limits', {
        ...{ period: 'monthly', amount: '1', is_enabled: false },
      }),
      '/v1/ext/quotas/{name}': 'agents',
      '/v1/models/{id}': 'offline',
      '/v1/ext/api_keys/{id}': pool.keyId,
      '/v1/organizations/api_keys/{id}': pool.keyId,
      '{session_id}': claimed,
      '{store}': store,
      '{resource}': await repositoryOf(claimed),
    }
    const part = await service.raw('POST', `/v1/ext/checkpoints/${claimed}/parts`, 'text', {
      ...{ 'x-api-key': '', authorization: `Bearer ${token}` },
    })
    const { key } = (await part.json()) as { key: string }
    examplesHere = {
      [exampleIds.agent]: agent,
      [exampleIds.session]: session,
      [exampleIds.environment]: environment,
      [exampleIds.file]: file,
      [exampleIds.memoryStore]: store,
      [exampleIds.checkpointPart]: key,
      [exampleIds.workspace]: workspace.id,
      [exampleIds.person]: memberIs.user.id,
      [exampleIds.installation]: await installGithub(service),
    }
  }

  async function repositoryOf(session: string): Promise<string> {
    const { body } = await service.ask('GET', `/v1/sessions/${session}/resources`)
    const found = body.data.find((each) => each['type'] === 'github_repository')
    assert.ok(found)
    return found.id
  }

  async function releasedHold(session: string): Promise<string> {
    const scope = { type: 'session', session_id: session }
    const { body } = await service.ask('POST', '/v1/ext/holds', { scope, reason: 'walked' })
    await service.ask('POST', `/v1/ext/holds/${body.id}/release`)
    return body.id
  }

  async function claim(pool: WorkerPool, session: string): Promise<string> {
    const item = await poll(service, pool)
    assert.equal(item?.data.id, session)
    token = tokenOf(item.secret)
    return item.id
  }

  /** Fills each parameter with the id for the longest known beginning of the path. */
  function fill(template: string): string {
    return template.replaceAll(/\{\w+\}/g, (name, offset: number) => {
      const upTo = template.slice(0, offset) + name
      const byWork = template.includes('/work') ? ids[`${upTo}/work`] : undefined
      const id = byWork ?? ids[upTo] ?? ids[name]
      assert.ok(id, `${upTo}: say in makeThings what stands there`)
      return encodeURIComponent(id)
    })
  }

  const headersOf = ({ security }: DescribedOperation): Record<string, string> => {
    const isPersons = security.length > 0 && security.every((each) => 'SessionCookie' in each)
    if (isPersons) return { cookie: owner.cookie, origin: service.base }
    const isClaims = security.every((each) => 'ClaimToken' in each)
    const key: Record<string, string> = isClaims
      ? { authorization: `Bearer ${token}` }
      : { 'x-api-key': adminKey }
    return { ...key, 'vendor-beta': betas }
  }

  it('are taken from the official client too', async () => {
    const client = { 'anthropic-version': '2023-06-01' }
    const path = '/v1/sessions/{id}/events'
    assert.equal(await described.sendExamples((each) => each !== path, client), 1)
  })

  verifies(
    ['http/routes/openapi', 'http/routes/examples'],
    'are taken by the service, and answered as the description says',
    async () => {
      const sent = await described.sendExamples((path) => byLetter.test(path))
      assert.ok(sent >= 74, `${sent} were sent`)
    },
  )

  /** These routes take a token from a letter or a link that opens once. The tests of sign-in cover them. */
  const byLetter = /auth\/(sign_in\/code|reset\/confirm|invitation)$/

  it('come with answers to reading that match the description', async () => {
    const read = await described.readAnswers((path) => needsMore.test(path))
    assert.ok(read > 40, `${read} were read`)
  })

  it('come with answers to the official client that match the description', async () => {
    const client = { 'anthropic-version': '2023-06-01' }
    const read = await described.readAnswers((path) => needsMore.test(path), client)
    assert.ok(read > 40, `${read} were read`)
  })
  /** The walk has nothing to read at these paths, or needs another kind of key. */
  const needsMore =
    /work\/poll|threads\/|memory_versions\/|mcp-proxy|\/egress\/|parts|\/ext\/outputs|\/callback$|inputs.*files\/|outputs\/|oauth|\/find$|folder\/content$/

  it('come with answers in other forms that match the description', async () => {
    const inRange = { range: 'bytes=0-1' }
    for (const path of ['/v1/files/{id}', '/v1/files/{id}/content'])
      assert.equal(await described.readAnswer(path, inRange), 206)
    const asText = { accept: 'text/csv' }
    assert.equal(await described.readAnswer('/v1/ext/usage', asText), 200)
    const asked = {
      '/v1/sessions/{id}/events': '?view=light',
      '/v1/ext/sessions/{id}/find': '?q=hello',
    }
    for (const [path, query] of Object.entries(asked))
      assert.equal(await described.readAnswer(path, {}, query), 200)
  })

  it('come with errors that match the description', async () => {
    const memories = `${fill('/v1/memory_stores/{id}')}/memories`
    const own = { 'vendor-beta': betas }
    for (const headers of [own, { ...own, 'anthropic-version': '2023-06-01' }]) {
      const memory = { path: '/taken', content: 'a' }
      await service.ask('POST', memories, memory, headers)
      const { status, body } = await service.ask('POST', memories, memory, headers)
      assert.equal(status, 409)
      described.checkError(body)
    }
  })

  it('name a hash that is that of their text', async () => {
    const bytes = await crypto.subtle.digest('SHA-256', Buffer.from('text'))
    assert.equal(Buffer.from(bytes).toString('hex'), exampleHash)
  })
})
