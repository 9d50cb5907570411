/**
 * The second half of the first command: creates an agent, an environment and a session by the public API, and shows one
 * turn.
 */
import { z } from 'zod'

const { API_KEY = '', MODEL, DATA_DIR = 'data' } = process.env
const base = process.env['DEMO_URL'] ?? 'http://127.0.0.1:8787'
const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' }
const Made = z.looseObject({ id: z.string() })

async function post(path: string, body: object): Promise<Response> {
  const response = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok)
    throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`)
  return response
}
const make = async (path: string, body: object) =>
  Made.parse(await (await post(path, body)).json()).id

async function chooseModel(): Promise<string> {
  if (MODEL) return MODEL
  if (process.env['ANTHROPIC_API_KEY']) return 'claude-sonnet-4-6'
  if (process.env['OPENAI_BASE_URL']) {
    const key = process.env['OPENAI_API_KEY'] ?? 'none'
    const root = process.env['OPENAI_BASE_URL'].replace(/\/(v1\/?)?$/, '')
    const response = await fetch(`${root}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { data } = z.object({ data: z.array(Made).min(1) }).parse(await response.json())
    return data[0]?.id ?? ''
  }
  return process.env['OPENAI_API_KEY'] ? 'gpt-5.2' : 'offline'
}

/** The offline model gets commands; any other model gets the task in words. */
const taskFor = (model: string): string =>
  model === 'offline'
    ? [
        'write primes.mjs:',
        'const primes = []',
        'for (let n = 2; primes.length < 10; n++) if (primes.every((p) => n % p)) primes.push(n)',
        "console.log('the first ten primes:', primes.join(' '))",
        '',
        'run: node primes.mjs',
      ].join('\n')
    : 'Write a small Node.js program in your working folder that prints the first ten primes, run it, and tell me what it printed.'

const dim = (text: string) => (process.stdout.isTTY ? `\u001b[2m${text}\u001b[0m` : text)
const Shown = z.looseObject({
  type: z.string(),
  seq: z.number().nullish(),
  delta: z.string().optional(),
})

/** Prints streamed text piece by piece, and every other event in one line. */
function print(event: z.infer<typeof Shown>, state: { open: boolean }): void {
  if (event.type === 'agent.message_chunk') {
    if (!state.open) process.stdout.write('    ')
    state.open = true
    process.stdout.write(event.delta ?? '')
    return
  }
  // An event without a number is live only: a piece of text, or a message that waits for its turn.
  if (typeof event.seq !== 'number') return
  if (state.open) process.stdout.write('\n')
  state.open = false
  const {
    id: _id,
    type,
    session_id: _session,
    seq,
    created_at: _at,
    processed_at: _then,
    data,
    ...rest
  } = event
  const detail = JSON.stringify(data ?? rest)
  console.log(
    `${String(seq ?? '').padStart(3)} ${type.padEnd(28)} ${dim(detail.length > 160 ? `${detail.slice(0, 160)}…` : detail)}`,
  )
}

async function follow(response: Response): Promise<void> {
  const state = { open: false }
  let text = ''
  for await (const piece of (response.body ?? new Blob([]).stream()).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += piece
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1]
      if (data) print(Shown.parse(JSON.parse(data)), state)
    }
  }
}

async function main(): Promise<void> {
  const model = await chooseModel()
  const name = `first-steps-${Date.now().toString(36)}`
  const agent = await make('/v1/agents', {
    name,
    model,
    system: 'You are a careful programmer. Work in your working folder.',
    tools: [{ type: 'agent_toolset_20260401' }],
  })
  const environment = await make('/v1/environments', { name })
  const session = await make('/v1/sessions', {
    agent,
    environment_id: environment,
    title: 'First steps',
  })
  console.log(`\nAn agent (${agent}) with the model ${model} works in session ${session}:\n`)
  await follow(await post(`/v1/sessions/${session}/messages`, { content: taskFor(model) }))
  console.log(`
The server goes on at ${base} (./try stop ends it). Talk to the same session with curl:

  export URL=${base} KEY=$(cat ${DATA_DIR}/api-key)
  curl -N $URL/v1/sessions/${session}/messages -H "x-api-key: $KEY" \\
    -H 'content-type: application/json' -d '{"content": "run: ls -l"}'

or with the official client, unmodified:

  import Anthropic from '@anthropic-ai/sdk'
  const client = new Anthropic({ baseURL: process.env.URL, apiKey: process.env.KEY })
  for await (const event of client.beta.sessions.events.list('${session}')) console.log(event.type)
`)
}

await main()
