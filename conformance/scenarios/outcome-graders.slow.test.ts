import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { cost, outcome, results, revise, satisfied, says, submits, usage } from '../outcomes.ts'
import { pricedModel } from '../priced-model.ts'
import { startServer } from '../process.ts'
import type { TestService } from '../service.ts'
import { boot, clientsOf, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, idleOf, logOf, newSession, only, post, say, turn, types } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`graders on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let model: string
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
      model = await pricedModel(service, stub, cost)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })
    const sessions = () => service.client.beta.sessions
    /** The last request to the stub, as text. */
    const asked = () => JSON.stringify(stub.requests.at(-1)?.body)

    verifies(
      ['outcomes/rubric-file', 'outcomes/grader', 'outcomes/revision'],
      'a rubric outlives its file, and the grader reads it, the answer and files, but not the description',
      async () => {
        const { files } = service.client.beta
        const file = await files.upload({ file: new File(['Rhymes, please.'], 'rubric.md') })
        const session = await newSession(service, {
          model,
          tools: [{ type: 'agent_toolset_20260401' }],
        })
        const path = '/mnt/session/outputs/poem.txt'
        const call = (name: string, input: object): StubAnswer => ({
          blocks: [{ type: 'tool_call', id: `t_${name}`, name, pieces: [JSON.stringify(input)] }],
          stop: 'tool_use',
          usage,
        })
        stub.requests.length = 0
        stub.replies(
          call('write', { file_path: path, content: 'roses' }),
          says('the poem is in the file'),
          call('read', { file_path: path }),
          revise,
          says('done'),
          satisfied,
        )
        const rubric = { type: 'file', file_id: file.id }
        const stream = await sessions().events.stream(session)
        const posted = await post(service, session, outcome({ rubric, description: 'roses!' }))
        const [echo] = posted.data ?? []
        assert.deepEqual(JSON.parse(JSON.stringify(echo)).rubric, {
          type: 'text',
          content: 'Rhymes, please.',
        })
        await files.delete(file.id)
        const seen: SeenEvent[] = []
        for await (const each of stream) {
          seen.push({ ...each } as SeenEvent)
          if (each.type === 'session.status_idle') break
        }
        assert.deepEqual(results(seen), [
          ['needs_revision', 0],
          ['satisfied', 1],
        ])
        assert.equal(all(seen, 'agent.tool_use').length, 1)
        const [, , grader, read, revision, second] = stub.requests.map(({ body }) => body)
        const offered = grader?.['tools'] as { name: string }[] | undefined
        assert.deepEqual(
          offered?.map(({ name }) => name),
          ['read', 'glob', 'grep', 'submit_verdict'],
        )
        const told = JSON.stringify(grader)
        for (const word of ['Rhymes, please.', 'the poem is in the file', 'poem.txt (5 bytes)'])
          assert.ok(told.includes(word), word)
        assert.ok(!told.includes('roses!'))
        assert.match(JSON.stringify(read), /==== [-0-9a-f]{36} ====[^]*roses[^]*====/)
        // The report is an input that names the evaluation. It is neither a system message nor a message of the user.
        const messages = revision?.['messages'] as { role: string; content: unknown }[]
        assert.equal(messages.at(-1)?.role, 'user')
        const report = JSON.stringify(messages.at(-1)?.content)
        assert.match(report, /outcome_evaluation outcome_id=[^]*make it shorter[^]*Not met:/)
        assert.match(report, /no message of the user/)
        assert.ok(!JSON.stringify(revision?.['system']).includes('make it shorter'))
        assert.ok(JSON.stringify(second).includes('Rhymes, please.'))
        assert.equal(all(seen, 'user.message').length, 0)
      },
    )

    verifies(
      'outcomes/rubric-file',
      'a rubric is refused whose file is absent, is no text, or is too long',
      async () => {
        const session = await newSession(service, { model })
        const { files } = service.client.beta
        const refused = async (rubric: object, status: number, words: RegExp) => {
          const path = `/v1/sessions/${session}/events`
          const answer = await service.ask('POST', path, { events: [outcome({ rubric })] })
          assert.equal(answer.status, status)
          assert.match(JSON.stringify(answer.body), words)
        }
        const of = async (body: string | Uint8Array<ArrayBuffer>, name: string) => ({
          type: 'file',
          file_id: (await files.upload({ file: new File([body], name) })).id,
        })
        await refused({ type: 'file', file_id: 'file_none' }, 404, /file_none/)
        await refused(await of('%PDF-1.4', 'a.pdf'), 400, /events\.0\.rubric\.file_id.*no text/)
        await refused(await of(new Uint8Array([0xff, 0xfe]), 'a.txt'), 400, /no text in UTF-8/)
        await refused(await of('x'.repeat(262_145), 'a.md'), 400, /1 to 262144 characters/)
        await refused({ type: 'text', content: 'x'.repeat(262_145) }, 400, /rubric/)
        assert.deepEqual(await logOf(service, session), [])
      },
    )

    verifies(
      ['outcomes/failed', 'events/ext/aux-model-call'],
      'a verdict that cannot be read is asked for once more, and is never taken for satisfied',
      async () => {
        const session = await newSession(service, { model })
        stub.replies(says('a poem'), says('I am satisfied'), satisfied)
        assert.deepEqual(results(await turn(service, session, outcome())), [['satisfied', 0]])
        assert.match(asked(), /There is no verdict yet/)
        const unmet = [{ criterion: 'c', met: false }]
        const wrong = submits({ result: 'satisfied', explanation: 'fine', criteria: unmet })
        stub.replies(says('a poem'), wrong, submits({ result: 'satisfied' }), satisfied)
        const seen = await turn(service, session, outcome())
        assert.deepEqual(results(seen), [['failed', 0]])
        assert.deepEqual(idleOf(seen), { stop_reason: { type: 'end_turn' } })
        const end = only(seen, 'span.outcome_evaluation_end')
        assert.match(String(end['explanation']), /no verdict that could be read/)
        const calls = all(await logOf(service, session), 'aux.model_call').slice(-2)
        assert.deepEqual(
          calls.map((call) => call['outcome_evaluation_start_id']),
          [end['outcome_evaluation_start_id'], end['outcome_evaluation_start_id']],
        )
        assert.deepEqual(end['usage'], {
          input_tokens: 300,
          output_tokens: 100,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
        })
      },
    )

    verifies(
      ['outcomes/grader', 'outcomes/loop'],
      'the example of docs/outcomes.md ends satisfied, on the offline model',
      async () => {
        const [, example = ''] = /```json\n([^]*?)```/.exec(page) ?? []
        const { events } = JSON.parse(example)
        const session = await newSession(service, {
          tools: [{ type: 'agent_toolset_20260401' }],
        })
        const seen = await turn(service, session, ...events)
        assert.deepEqual(results(seen), [['satisfied', 0]])
        const end = only(seen, 'span.outcome_evaluation_end')
        assert.equal(end['explanation'], 'The poem is there.')
        // The grader reads the file, and then learns that its answer has no verdict, so it makes two requests.
        assert.equal(all(await logOf(service, session), 'aux.model_call').length, 2)
      },
    )

    verifies(
      'outcomes/failed',
      'an outcome fails when the grader, or the agent, cannot reach its model',
      async () => {
        const gone = { status: 400, error: 'invalid_request_error', message: 'no such model' }
        const session = await newSession(service, { model })
        stub.replies(says('a poem'), gone)
        const seen = await turn(service, session, outcome())
        assert.deepEqual(results(seen), [['failed', 0]])
        assert.deepEqual(idleOf(seen), { stop_reason: { type: 'retries_exhausted' } })
        assert.equal(all(seen, 'session.error').length, 1)
        stub.replies(gone)
        const again = await turn(service, session, outcome())
        const end = only(again, 'span.outcome_evaluation_end')
        assert.deepEqual([end['outcome_evaluation_start_id'], end['result']], ['', 'failed'])
      },
    )
  })
}

const page = readFileSync(new URL('../../docs/outcomes.md', import.meta.url), 'utf8')

describe('an evaluation', () => {
  verifies(
    'outcomes/recovery',
    'is begun again by the next process under the same start when its process is killed',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'steward-outcome-'))
      await using stub = await startStub(anthropicDialect)
      const env = {
        DATA_DIR: folder,
        SANDBOX_DIR: join(folder, 'sandboxes'),
        EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
        EGRESS_TENANT_TARGETS: '127.0.0.0/8:*,[::1]:*',
      }
      let session: string
      {
        await using server = await startServer(env)
        const clients = clientsOf(server.base)
        session = await newSession(clients, { model: await pricedModel(clients, stub, cost) })
        stub.requests.length = 0
        stub.replies(says('a poem'), says('hm'), 'hang')
        await post(clients, session, outcome())
        await until(() => stub.requests.length === 3)
        await server.kill()
      }
      stub.replies(satisfied)
      await using server = await startServer(env)
      const clients = clientsOf(server.base)
      await until(async () => types(await say(clients, session)).includes('session.status_idle'))
      const log = await say(clients, session)
      const start = only(log, 'span.outcome_evaluation_start')
      const end = only(log, 'span.outcome_evaluation_end')
      assert.deepEqual(
        [end['outcome_evaluation_start_id'], end['result'], end['iteration']],
        [start.id, 'satisfied', 0],
      )
      // The request of the killed process was not recorded. The request before it was.
      assert.equal((end['usage'] as { input_tokens: number }).input_tokens, 300)
      assert.equal(all(log, 'agent.message').length, 1)
      await rm(folder, { recursive: true, force: true })
    },
  )
})
