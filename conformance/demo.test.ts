/** The second half of the first command, against servers that a newcomer may have. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import type { ReceiverAnswer } from './receiver.ts'
import { startReceiver } from './receiver.ts'

const module = import.meta.resolve('@steward/server/start/commands/first-turn.ts')
const program = `
  const { runFirstTurn } = await import(${JSON.stringify(module)})
  const { TRIAL_BASE: base, ...environment } = process.env
  await runFirstTurn({ base, apiKey: '', dataFolder: 'data', command: './try', environment })`

/** `models`: the answer of a model server to the list of its models. `events`: of the turn. */
async function runDemo(models: ReceiverAnswer, events: readonly object[] = []) {
  const server = await startReceiver()
  const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  server.answerWith(({ path }) => {
    if (path === '/v1/models') return models
    if (path.endsWith('/messages')) return { status: 200, body: stream }
    return { status: 200, body: '{"id":"made_1"}' }
  })
  const env = { PATH: process.env['PATH'], TRIAL_BASE: server.base, OPENAI_BASE_URL: server.base }
  return new Promise<{ code: unknown; stdout: string; stderr: string; asked: string }>((resolve) =>
    execFile(
      process.execPath,
      ['--input-type=module', '-e', program],
      { env },
      (error, stdout, stderr) => {
        const asked = server.posted.map(({ body }) => body).join('\n')
        void server.close().then(() => resolve({ code: error?.code ?? 0, stdout, stderr, asked }))
      },
    ),
  )
}

const listOf = (...names: string[]): ReceiverAnswer => ({
  status: 200,
  body: JSON.stringify({ data: names.map((id) => ({ id })) }),
})
const says = { type: 'agent.message', seq: 1, content: [{ type: 'text', text: 'done' }] }
const fails = { type: 'session.error', seq: 1, error: { message: 'no chat' } }

describe('the first command with a local server', () => {
  it('says in a line that the server has no model, or none that can chat', async () => {
    for (const [models, words] of [
      [{ status: 200, body: '{"data":null}' }, /offers no model: pull one, or name one by MODEL/],
      [listOf('nomic-embed-text'), /offers no model that can chat \(nomic-embed-text\)/],
      [
        { status: 401, body: '{"error":{"message":"who?"}}' },
        /does not list .*401 who\?.*OPENAI_API_KEY/,
      ],
      [{ status: 200, body: '<html>' }, /^steward: /],
    ] as const) {
      const { code, stderr } = await runDemo(models)
      assert.equal(code, 1)
      assert.match(stderr, words)
      assert.equal(stderr.trim().split('\n').length, 1, stderr)
    }
  })

  it('takes the first model that can chat, and says which and how to take another', async () => {
    const models = listOf('nomic-embed-text', 'qwen3:8b', 'bge-m3', 'llama3')
    const { code, stdout, stderr, asked } = await runDemo(models, [says])
    assert.equal(code, 0)
    assert.match(stderr, /Taking the model qwen3:8b .* offers qwen3:8b, llama3; MODEL=NAME \.\/try/)
    assert.match(asked, /"model":"qwen3:8b"/)
    assert.doesNotMatch(stdout, /run: ls/)
    assert.match(stdout, /\) console\.log\(event\.type\)/)
  })

  it('ends with 1 when the turn has failed', async () => {
    const { code, stderr } = await runDemo(listOf('m'), [fails])
    assert.equal(code, 1)
    assert.match(stderr, /The turn failed; session\.error above says why/)
    assert.equal((await runDemo(listOf('m'), [fails, says])).code, 0, 'a retry that succeeds')
  })
})
