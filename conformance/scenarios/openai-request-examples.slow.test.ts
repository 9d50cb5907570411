/** Sends the examples in the description of `/openai/v1` to a service, which accepts them and answers as described. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { exampleIds } from '@steward/protocol/example-ids.ts'
import { describedAt } from '../described.ts'
import { uploadFile } from '../files.ts'
import { newestOpenAI } from '../openai.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { skillText } from '../skills.ts'
import { verifies } from '../verifies.ts'

const base = '/openai/v1'

describe('the examples of requests of the OpenAI surface', () => {
  let service: TestService
  let described: Awaited<ReturnType<typeof describedAt>>
  let ids: Record<string, string>
  let examplesHere: Record<string, string>

  before(async () => {
    service = await boot('sqlite')
    await makeThings()
    described = await describedAt(service, `${base}/openapi.json`, {
      fill,
      headersOf: () => ({ authorization: `Bearer ${adminKey}` }),
      examplesHere: () => examplesHere,
    })
  })
  after(() => service.close())

  const make = async (path: string, body: object): Promise<string> => {
    const answer = await service.ask('POST', base + path, body)
    assert.equal(answer.status, 200, `${path} ${JSON.stringify(answer.body)}`)
    return answer.body.id
  }

  /** Creates one thing of each kind that a path or an example names. */
  async function makeThings(): Promise<void> {
    const { beta } = newestOpenAI(service)
    const agent = await make('/agents', { name: 'a', model: 'offline' })
    const stream = await beta.agents.sessions.create({
      ...{ agent_id: agent, environment: { type: 'openai_hosted' }, input: 'say: a', stream: true },
    })
    let session = ''
    for await (const event of stream)
      if (event.type === 'agent.session.created') session = event.session.id
    const [turn] = await Array.fromAsync(beta.agents.sessions.turns.list(session, { limit: 1 }))
    assert.ok(turn)
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'say: a' }] }]
    const automation = await make('/agents/automations', {
      ...{ type: 'periodic', name: 'a', expression: '0 9 * * 1', timezone: 'UTC' },
      target: { type: 'new_session', agent_id: agent, environment: { type: 'none' }, input },
    })
    const file = (await uploadFile(service, { name: 'a.txt', content: 'text' })).id
    const files = [{ filename: 'SKILL.md', content: skillText('greeting') }]
    const skill = (await service.ask('POST', '/v1/skills', { files })).body.id
    const vault = await make('/vaults', { name: 'a vault' })
    const auth = { type: 'static_bearer', token: 'x', mcp_server_url: 'https://a.example' }
    const invocations = `/agents/automations/${automation}/invocations`
    ids = {
      '/agents/{id}': agent,
      '/agents/sessions/{id}': session,
      '{turn_id}': turn.id,
      '/agents/automations/{id}': automation,
      '{invocation_id}': await make(invocations, {}),
      '/agents/environments/{id}': await make('/agents/environments', {
        environment: { type: 'openai_hosted' },
      }),
      '/agents/environments/templates/{id}': await make('/agents/environments/templates', {}),
      '/files/{id}': file,
      '/skills/{id}': skill,
      '{version}': 'latest',
      '/vaults/{id}': vault,
      '{credential_id}': await make(`/vaults/${vault}/credentials`, { name: 'a', auth }),
    }
    examplesHere = { [exampleIds.agent]: agent, [exampleIds.file]: file }
  }

  function fill(template: string): string {
    return template.replaceAll(/\{\w+\}/g, (name, offset: number) => {
      const upTo = (template.slice(0, offset) + name).replace(base, '')
      const id = ids[upTo] ?? ids[name]
      assert.ok(id, `${upTo}: say in makeThings what stands there`)
      return encodeURIComponent(id)
    })
  }

  verifies(
    ['openai/described', 'http/routes/examples'],
    'are taken by the service, and answered as the description says',
    async () => {
      const sent = await described.sendExamples(() => false)
      assert.equal(sent, 19)
    },
  )

  it('come with answers to reading that match the description', async () => {
    const read = await described.readAnswers((path) => needsMore.test(path))
    assert.ok(read >= 25, `${read} were read`)
  })
  /** The walk has nothing to read at these paths. openai-turns.slow.test.ts covers them. */
  const needsMore = /subagent_id|artifact_id/
})
