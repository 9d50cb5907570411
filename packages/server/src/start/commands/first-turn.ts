/**
 * The second half of the first command: creates an agent, an environment and a session by the public API, and shows one
 * turn.
 */
import { z } from 'zod'

const { API_KEY = '', MODEL, DATA_DIR = 'data', SIGN_IN_LINK = '' } = process.env
/** The console opens after a sign-in: the way to the first one, while there is one. */
const firstSignIn =
  SIGN_IN_LINK === ''
    ? ''
    : `
Nobody has signed in yet. Open this link first; it works once:

  ${SIGN_IN_LINK}
`
const base = process.env['DEMO_URL'] ?? 'http://127.0.0.1:8787'
const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' }
const Made = z.looseObject({ id: z.string() })

/** A failure in one line, for a person who cannot use a stack. */
const reasonOf = (error: unknown): string => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  return cause instanceof Error && cause.message ? `${message}: ${cause.message}` : message
}

const Refusal = z.looseObject({ error: z.looseObject({ message: z.string() }) })

/** What a server says in an error, in one line. */
function wordsOf(text: string): string {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    given = undefined
  }
  const { data } = Refusal.safeParse(given)
  return (data?.error.message ?? text).replaceAll(/\s+/g, ' ').slice(0, 500)
}

async function post(path: string, body: object): Promise<Response> {
  const response = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok)
    throw new Error(`POST ${path} answered ${response.status}: ${wordsOf(await response.text())}`)
  return response
}
const make = async (path: string, body: object) =>
  Made.parse(await (await post(path, body)).json()).id

/** Parts of the names of models that answer no conversation. */
const noChat =
  /embed|rerank|whisper|tts|transcri|speech|moderation|dall-e|image|clip|(^|[/-])(bge|e5|gte)-/i
const shownNames = 8

/** The names of the models that a local server, or another one that speaks OpenAI's wire, offers. */
async function modelsOf(root: string): Promise<string[]> {
  const authorization = `Bearer ${process.env['OPENAI_API_KEY'] ?? 'none'}`
  const response = await fetch(`${root}/v1/models`, { headers: { authorization } }).catch(
    (error: unknown) => {
      throw new Error(`the model server at ${root} does not answer (${reasonOf(error)})`)
    },
  )
  const text = await response.text()
  if (!response.ok)
    throw new Error(
      `the model server at ${root} does not list its models (${response.status} ${wordsOf(text)}): check OPENAI_API_KEY, or name a model by MODEL`,
    )
  const { data } = z.looseObject({ data: z.array(Made).nullish() }).parse(JSON.parse(text))
  return (data ?? []).map(({ id }) => id)
}

async function chooseListed(root: string): Promise<string> {
  const all = await modelsOf(root)
  const found = all.filter((name) => !noChat.test(name))
  const [first] = found
  if (first === undefined) {
    const none = all.length > 0 ? `no model that can chat (${all.join(', ')})` : 'no model'
    throw new Error(`the model server at ${root} offers ${none}: pull one, or name one by MODEL`)
  }
  const names = found.slice(0, shownNames).join(', ')
  const more = found.length > shownNames ? ` and ${found.length - shownNames} more` : ''
  console.error(
    `steward: Taking the model ${first} of ${root}, which offers ${names}${more}; MODEL=NAME ./try takes another.`,
  )
  return first
}

async function chooseModel(): Promise<string> {
  if (MODEL) return MODEL
  if (process.env['ANTHROPIC_API_KEY']) return 'claude-sonnet-4-6'
  const { OPENAI_BASE_URL: url } = process.env
  if (url) return chooseListed(url.replace(/\/(v1\/?)?$/, ''))
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
function print(event: z.infer<typeof Shown>, state: { open: boolean; failed: boolean }): void {
  if (event.type === 'session.error') state.failed = true
  if (event.type === 'agent.message') state.failed = false
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

/** Returns whether the turn failed. */
async function follow(response: Response): Promise<boolean> {
  const state = { open: false, failed: false }
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
  return state.failed
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
  const sent = await post(`/v1/sessions/${session}/messages`, { content: taskFor(model) })
  const isFailed = await follow(sent)
  if (isFailed) {
    console.error('\nsteward: The turn failed; session.error above says why.')
    process.exitCode = 1
  }
  const next = model === 'offline' ? 'run: ls -l' : 'Which files are in your working folder?'
  console.log(`
The server goes on at ${base} (./try stop ends it). Watch this session in the console:

  ${base}/console/sessions/${session}
${firstSignIn}
Talk to it with curl:

  export URL=${base} KEY=$(cat ${DATA_DIR}/api-key)
  curl -N $URL/v1/sessions/${session}/messages -H "x-api-key: $KEY" \\
    -H 'content-type: application/json' -d '{"content": "${next}"}'

or with the official client, unmodified:

  import Anthropic from '@anthropic-ai/sdk'
  const client = new Anthropic({ baseURL: process.env.URL, apiKey: process.env.KEY })
  for await (const event of client.beta.sessions.events.list('${session}')) console.log(event.type)
`)
}

await main().catch((error: unknown) => {
  console.error(`steward: ${reasonOf(error)}`)
  process.exitCode = 1
})
